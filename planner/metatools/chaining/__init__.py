"""Plans without a language model: tools chained by what flows between them, arguments read from the goal."""
