"""Registries: lists of servers that are not connected, what connecting one needs, and writing its entry."""
