"""What a primitive is: its arguments, its contract, the catalogue of them."""
