"""Where runs are kept. The run directory on disk is the interface between running and grading."""
