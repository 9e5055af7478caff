"""Screens in a terminal: they draw what a session says, and tell it what was typed."""
