"""A run after its first process: rest, resume, cancel, again, otherwise."""
