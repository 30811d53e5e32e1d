"""Rules of a space for its tools: what is preferred, avoided, required or selected, by facts of request and tools."""
