"""Authorization of servers behind a URL: who signs in, how, and where the tokens are kept."""
