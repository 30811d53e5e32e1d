"""Everything that is wrong with a plan, before anything happens."""
