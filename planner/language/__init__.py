"""What a plan is, as data; knows nothing of a space."""
