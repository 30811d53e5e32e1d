"""What servers list, kept and kept current."""
