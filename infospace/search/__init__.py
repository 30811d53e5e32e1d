"""Search: embedding, passages, and finding by meaning."""
