"""Tools: what can be called outside of the space."""
