"""How sure a search may be of what it says: of its first hit, and of how much it misses."""
