"""`query`: one SELECT, read into a closed tree, checked, written anew for the engine, and run within limits.

`parse.parse_query` reads the text: what it does not build does not exist, so no text of an author ever reaches the
engine. `scope` says which column a name means, `analyse` what the rows will be, for the check. `columns` makes typed
columns of items; `translate` and `select` write SQL over them; `engine` runs it in a DuckDB that has neither files,
network nor settings. Scalar expressions are those of `infospace.expressions` and mean the same.
"""
