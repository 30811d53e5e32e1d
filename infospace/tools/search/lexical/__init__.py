"""The leg of words: BM25 over fields, and names that are written a little otherwise."""
