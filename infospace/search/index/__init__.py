"""Vectors in memory, on disk, and approximately."""
