"""The JSON editor."""
