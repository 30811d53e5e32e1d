"""Texts to vectors, and keeping them current."""
