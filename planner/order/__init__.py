"""What must wait for what; static, runs nothing."""
