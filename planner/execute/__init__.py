"""The one interpreter loop."""
