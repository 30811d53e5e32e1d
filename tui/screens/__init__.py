"""The places of the screen: one a file, and a folder for each that has parts of its own."""
