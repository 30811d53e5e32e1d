"""Goals with known answers, run against a language model: which model plans well, and what it costs."""
