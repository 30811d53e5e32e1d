"""What the place Tools lists, tells and does."""
