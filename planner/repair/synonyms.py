"""What other systems call the arguments, the fields and the verbs that there are here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from infospace.data.misspelling import words_of

ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "target": (
        "collection",
        "source",
        "input",
        "data",
        "items",
        "list",
        "from",
        "in",
        "on",
        "over",
        "left",
        "of",
        "note",
        "df",
        "table",
        "rows",
    ),
    "value": (
        "text",
        "content",
        "message",
        "msg",
        "body",
        "data",
        "items",
        "values",
        "elements",
        "members",
        "right",
        "other",
        "with",
        "second",
        "item",
        "element",
        "note",
        "output",
        "metadata",
    ),
    "query": ("q", "text", "search", "question", "search_query", "query_text", "keywords", "term", "terms"),
    "sql": ("query", "statement", "select", "q"),
    "limit": (
        "top_k",
        "topk",
        "k",
        "n",
        "count",
        "max_results",
        "size",
        "num_results",
        "top_n",
        "max",
        "first",
        "take",
    ),
    "count": ("n", "k", "limit", "size", "num", "top_k", "number", "rows", "first", "take"),
    "threshold": ("min_score", "score_threshold", "min_similarity", "similarity_threshold", "cutoff"),
    "where": (
        "filter",
        "filters",
        "condition",
        "conditions",
        "predicate",
        "expression",
        "expr",
        "when",
        "having",
        "query",
    ),
    "predicate": ("condition", "question", "criterion", "criteria", "prompt", "filter", "where"),
    "by": ("key", "keys", "field", "fields", "column", "columns", "sort_by", "order_by", "group_by", "subset", "on"),
    "order": ("direction", "sort_order", "how", "sort", "sort_direction"),
    "nulls": ("na_position", "null_order"),
    "aggregates": ("agg", "aggs", "aggregate", "aggregations", "aggregation", "metrics", "compute"),
    "fields": ("columns", "select", "field", "keys", "expressions", "assignments", "projection", "attributes"),
    "field": ("path", "key", "column", "attribute", "property", "fields", "select"),
    "on": ("key", "keys", "by", "using", "join_on", "column"),
    "left_key": ("left_on", "left_field", "left_column"),
    "right_key": ("right_on", "right_field", "right_column"),
    "join_type": ("how", "kind", "mode", "join"),
    "within": ("collection", "scope", "in"),
    "instruction": ("prompt", "query", "question", "instructions", "text"),
    "prompt": ("instruction", "instructions", "text", "message", "query"),
    "schema": ("output_schema", "json_schema", "response_schema", "response_format"),
    "focus": ("prompt", "instruction", "query", "topic", "question"),
    "expression": ("expr", "formula", "value", "code", "calculation"),
    "coercion": ("to", "to_type", "dtype", "target_type", "cast", "as_type"),
    "delimiter": ("separator", "sep", "by", "on"),
    "separator": ("delimiter", "sep", "joiner", "glue"),
    "slice": ("range", "lines", "chars"),
    "metadata": ("properties", "meta", "attributes", "tags"),
    "resource": ("uri", "url"),
    "relation": ("label", "relationship", "predicate", "rel", "relation_type"),
    "tool": ("tool_name", "function", "function_name"),
    "arguments": ("args", "argument", "params", "parameters", "kwargs", "input", "inputs", "tool_input", "tool_args"),
    "then": ("if_true", "do", "steps", "body", "actions"),
    "else": ("if_false", "otherwise", "else_do"),
    "do": ("steps", "body", "then", "actions", "loop"),
    "body": ("steps", "do", "then", "actions", "loop"),
    "as": ("item", "variable", "var", "item_name"),
    "operation": ("function", "op", "func", "fn", "apply", "step"),
    "branches": ("steps", "tasks", "parallel"),
    "condition": ("when", "where", "if", "test", "until", "predicate"),
    "seconds": ("duration", "duration_s", "delay", "time"),
    "next": ("cursor", "next_cursor"),
    "first": ("start",),
    "max_pages": ("max", "max_iterations", "limit"),
    "max_iterations": ("max", "limit", "max_rounds"),
    "collect": ("yield", "gather"),
    "source": ("from", "left", "subject"),
    "merge": ("update",),
    "mode": ("method", "search_type", "search_mode"),
}
"""Arguments of verbs and fields of forms, and what these are called elsewhere."""


def called_elsewhere(word: str, lacking: Iterable[str]) -> tuple[str, ...]:
    """Return those of some arguments that a word stands for elsewhere, in their order.

    >>> called_elsewhere("topK", ["target", "query", "limit"]), called_elsewhere("urgent", ["query"])
    (('limit',), ())
    """
    plain = "_".join(words_of(word))
    return tuple(name for name in lacking if plain in ARGUMENTS.get(name, ()))


TOOL_ARGUMENTS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"q", "query", "search query", "search term", "search text", "query text", "query string"}),
    frozenset({"uri", "url", "link"}),
    frozenset({"limit", "top k", "max results", "num results", "k", "n", "count", "size"}),
    frozenset({"path", "file path", "filepath", "filename", "file name", "file"}),
    frozenset({"text", "content", "body", "message"}),
)
"""Names that tools give to one thing: where one of them is needed and not there, another stands for it."""

_NEUTRAL = frozenset({"id", "name", "value", "text", "string", "str", "number", "the", "input", "param", "code"})
"""Words that may be left out of the name of an argument."""


def is_synonym(text: str, suggestion: str) -> bool:
    """Whether a tool's argument is called so elsewhere: `q` for `query`, `user` for `user_id`.

    This is enough only where the one is needed and not there, and no other is.
    """
    one, other = words_of(text), words_of(suggestion)
    names = {" ".join(one), " ".join(other)}
    if any(names <= group for group in TOOL_ARGUMENTS):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    rest = list(longer)
    for word in shorter:
        if word not in rest:
            return False
        rest.remove(word)
    return bool(shorter) and len(rest) == 1 and rest[0] in _NEUTRAL and not set(shorter) <= _NEUTRAL


TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("print", "echo", "tell-user", "notify-user"), "say"),
    **dict.fromkeys(("order-by", "sort-by", "orderby", "sort-values", "arrange", "sorted"), "sort"),
    **dict.fromkeys(("group-by", "groupby", "aggregate"), "group"),
    **dict.fromkeys(("limit", "take", "top"), "head"),
    **dict.fromkeys(("unique", "dedupe", "deduplicate", "drop-duplicates", "uniq"), "distinct"),
    **dict.fromkeys(("count", "len", "length"), "size"),
    **dict.fromkeys(("except", "minus", "subtract"), "difference"),
    **dict.fromkeys(("intersect",), "intersection"),
    **dict.fromkeys(("where", "filter-by", "filter-rows", "filter-where"), "filter-structured"),
    **dict.fromkeys(("foreach", "for", "loop", "iterate", "for-all", "each"), "for-each"),
    **dict.fromkeys(("sleep", "delay", "pause"), "wait"),
    **dict.fromkeys(("ask-user", "ask-human", "human-input", "input-from-user", "prompt-user"), "ask"),
    **dict.fromkeys(("if-else", "branch", "conditional"), "if"),
    **dict.fromkeys(("concurrent", "fan-out", "in-parallel"), "parallel"),
    **dict.fromkeys(("exit", "return", "finish", "end"), "stop"),
    **dict.fromkeys(("llm", "generate", "completion", "ask-llm", "generate-text"), "generate-note"),
    **dict.fromkeys(("cast", "convert", "to-type"), "coerce"),
    **dict.fromkeys(("with-columns", "select-columns", "select-fields", "pick"), "project"),
}
"""What verbs and forms are called elsewhere, with `-` between words."""


def type_elsewhere(type_: str) -> str | None:
    """Return what a verb is called here that has another name elsewhere, None where none is known.

    >>> type_elsewhere("order_by"), type_elsewhere("launch")
    ('sort', None)
    """
    return TYPES.get("-".join(words_of(type_)))
