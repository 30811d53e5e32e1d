"""The doors of other systems, each with exactly the arguments and the answer that it has there."""
