"""run, check, runs, resume, answer, cancel, replay, fork, diff, undo."""
