"""What references, ids and names in a plan mean: variables and places in them, and what the space has."""
