"""Changes by hand, and undoing a run."""
