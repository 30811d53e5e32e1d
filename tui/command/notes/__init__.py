"""add, search, notes, show, edit, rm, export, why, stale, prune."""
