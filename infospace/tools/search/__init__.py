"""Finding tools: which of them do what a request asks for.

Call `Finder.find(tools, query)`. A `ToolQuery` holds the request with its `Filters` and `Scope`; the answer is `ToolResults`.
"""
