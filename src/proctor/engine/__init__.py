"""Where the ports meet: running, grading, and the order, limits and processes of both."""
