"""A plan that runs while it is still arriving."""
