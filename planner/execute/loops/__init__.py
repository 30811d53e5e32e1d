"""Loops over what is known before, and over pages of what only a tool knows: what their rounds give."""
