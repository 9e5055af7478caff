"""Coding agents with a command line of their own: `claude` and `codex`."""
