"""HTTP interfaces that an OpenAPI document describes, as servers of tools: an operation is a tool."""
