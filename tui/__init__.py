"""tui: where you look and give orders. The command line, and later the screen."""
