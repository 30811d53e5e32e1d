"""The Notes screen."""
