"""Finding tools: which of them do what a request asks for.

`Finder.find(tools, wanted)` is the door; `Wanted`, `Filters`, `Scope` say what is asked, `Found` what was found.
"""
