"""Primitives about words."""
