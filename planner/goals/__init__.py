"""A goal in words: a language model writes the plan; it is read, checked, mended, and run as a session."""
