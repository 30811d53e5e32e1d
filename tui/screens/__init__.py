"""The places of the screen, one a file."""
