"""Options, input and output that several subcommands use."""
