"""Files into notes and out again."""
