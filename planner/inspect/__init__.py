"""A run looked at: tree, variables over time, differences. Read-only."""
