"""Where things came from, and what is stale."""
