"""Row sources for the lazy table."""
