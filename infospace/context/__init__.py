"""What a primitive is handed: one step's view of the space."""
