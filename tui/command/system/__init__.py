"""demo, doctor, model, primitives, serve, tui."""
