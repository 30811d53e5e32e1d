"""Copying a space into another place, from and to either engine: whole, verified, taken up where it was cut off."""
