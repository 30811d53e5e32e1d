"""A language model behind any OpenAI-compatible endpoint: asked once for equal questions, charged, journalled."""
