"""The vocabulary: one verb a file, found by listing this folder."""
