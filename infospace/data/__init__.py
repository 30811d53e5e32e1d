"""Content and JSON text: paths in it, comparison, sets, projections, pieces of text."""
