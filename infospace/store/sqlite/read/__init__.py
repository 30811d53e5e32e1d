"""What a snapshot answers."""
