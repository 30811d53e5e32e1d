"""planner: how deeds are strung together. The plan language, its check, and its one interpreter."""
