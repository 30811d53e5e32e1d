"""What places are made of."""
