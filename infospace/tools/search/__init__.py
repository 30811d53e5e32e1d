"""Finding tools: which of them do what a request asks for.

Call `Finder.find(tools, query)`. A `ToolQuery` has the request, its filters and its scope; `ToolResults` the answer.
"""
