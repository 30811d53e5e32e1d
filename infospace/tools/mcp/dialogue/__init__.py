"""What a server asks back while one of its tools is called: questions, a language model, roots, and what it logs."""
