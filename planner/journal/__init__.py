"""How a run is written down while it runs, and who owns it."""
