"""What passes through a planner's context: tool by tool, and by discovery, one plan and results kept as Notes."""
