"""A tried JSON Patch for each problem."""
