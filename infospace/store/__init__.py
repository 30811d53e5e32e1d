"""Memory: notes, collections, relations, and where they are kept."""
