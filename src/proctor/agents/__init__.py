"""The kinds of agent; they do not know each other."""
