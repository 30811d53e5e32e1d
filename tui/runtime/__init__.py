"""What goes on beside the screen: loop, runs, jobs, state."""
