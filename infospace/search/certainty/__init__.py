"""How sure a search may be of what it says: how much it misses, by a judged sample."""
