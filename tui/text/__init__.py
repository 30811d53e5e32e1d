"""Values and records as words."""
