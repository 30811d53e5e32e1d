"""From text to a plan; every syntax problem at once."""
