"""Words everything else is made of; imports nothing of ours."""
