"""The place where plans are written, in parts: the draft and its check, files, and trying it."""
