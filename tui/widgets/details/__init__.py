"""A resource, a tool or a server on tabs; forms."""
