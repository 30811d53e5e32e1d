"""Which weights, from where, verified."""
