"""The small door, the set `core`: five tools that find, run, go step by step, follow and read, in few characters.

`tools` declares them. `find` answers with lines, `follow` with how runs stand, `answers` is what a run is told in,
`preview` tells what is long by its shape, `wording` leaves out what only somebody with a command line can do.
"""
