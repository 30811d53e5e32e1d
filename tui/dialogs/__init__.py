"""What stands in front of a screen until answered."""
