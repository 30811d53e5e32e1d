"""How messages go to a server and come from it: lines of a process, or HTTP; and what is taken of them."""
