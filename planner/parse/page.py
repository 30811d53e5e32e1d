"""The language on one page, and in short: what a model needs for its first plan. The rest is asked for by name.

What is said of a verb stands there only where the vocabulary has the verb; the contracts are the authority, and a test
holds the pages to them, and to their length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from infospace.contract.catalogue import Catalogue

MAX_PAGE_CHARACTERS: Final = 4_000
"""Characters that the page has at most."""
LONGEST_SHORT: Final = 1_850
"""Characters that the short page has at most."""

_HEAD: Final = """\
A plan is JSON: {"goal", "inputs": {"n": {"type": "integer"}}, "steps": […], "result": "$x"}.
STEP {"type": VERB | "server/tool" | "plan:NAME", …, "out": "$x"}. Arguments of tools and plans stand in \
"arguments": {…}, those of verbs beside "type". Optional: "name" (keeps the result, which else is gone with \
the run; "replace": true renews it), "on_fail": "continue" or [steps] ($error.reason).
VALUES A variable is a Note (any JSON) or a Collection (ordered Notes); a JSON list serves as a Collection. "$x", \
"$x.key[0]" (-1: last) is a value; "… ${x.key} …" text with it. A tool's answer is one Note.
EXPRESSIONS are SQL. Over items, names are their fields (`content`: an item that is no object), $x a variable's \
value: "price * qty > $least"; else only $x: "$n + 1". + - * / % || = <> < <= > >= AND OR NOT IN LIKE BETWEEN IS \
NULL, CASE WHEN, CAST, TRY_CAST(x AS number|integer|text|boolean), coalesce least greatest abs round floor ceil power \
sqrt lower upper trim length(text or list) substr(s, from 1, n) replace split(s, sep) concat_ws(sep, list) \
starts_with contains(text or list, v) format(1234.5, 2)='1,234.50' matches regexp_extract(s, re, group) \
regexp_replace today() now() date_add(d, days) days(from, to) strftime(d, '%Y-%m') year month day weekday(1 Monday). \
Dates are ISO texts; texts in '…'. Nothing converts; absent is null, null in, null out."""

_GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "FIND": {
        "discover-notes": 'query, limit (5 or "all"), threshold (.3), mode semantic|keyword|hybrid, where, within → '
        "items {text, metadata: {source_id, score, title, source: {its properties}}}",
        "load": 'target (a name or id), slice "0:10"',
        "related": "target, relation",
    },
    "COLLECTIONS (of target)": {
        "filter-structured": "where",
        "project": 'fields ["a", "b.c"] or {"total": "price * qty"} ("keep": true keeps the others)',
        "pluck": "field",
        "sort": 'by ["score desc", "title"]',
        "group": 'by ["kind"] or {"month": "substr(due, 1, 7)"} (absent: all), aggregates {"n": "count", "s": '
        '"sum(price)"} (avg min max first last list)',
        "distinct": "by",
        "join": "value, on | left_key + right_key, join_type",
        "union, intersection, difference": "value",
        "head, tail": "count",
        "size": "",
        "flatten": "separator → text",
        "split": 'a Note: field, delimiter ("line" or any text)',
        "add": "value",
    },
    "TABLES": {
        "query": 'sql, one SELECT (WITH, JOIN, HAVING, OVER, subselects, the functions above): "SELECT o.who AS who, '
        'sum(i.price) AS total FROM $orders o, UNNEST(o.items) AS i GROUP BY o.who ORDER BY total DESC". Tables: $x, '
        "$x.rows; notes(title, path, folder, modified, tags, text, properties by name); items(note, "
        "text, done, due); links(source, target, relation)",
    },
    "MAKE": {
        "create-note": "value",
        "create-collection": "value [list]",
        "compute": "expression",
        "update-note, set-metadata": "target, value",
        "persist, remove": "target",
        "create-relation": "source, target, relation",
        "say": "value",
    },
    "MODEL": {
        "generate-note": "prompt, target, schema",
        "extract": "target, instruction, schema",
        "assess, filter-semantic": "target, predicate",
        "synthesize": "target, focus",
    },
}
_CONTROL: Final[Mapping[str, str]] = {
    "if": "condition, then, else",
    "for-each": 'target, as "$item", do, collect "$y", out, until (read after each round); other variables stay inside',
    "map": 'target, operation {"type": …, "arguments": {…"$item"…}}',
    "while": "condition, body",
    "pages": 'tool, arguments {"cursor": "$page"}, items "rows", next "next_cursor" | first 1',
    "parallel": "branches",
    "wait": "seconds | condition",
    "ask": "value, schema",
    "stop": "status, value",
}
_TAIL: Final = """\
A condition is "$n > 3 AND $s.state = 'open'", or {"type": "bound"|"empty"|"has_value", "target": "$x"}. What is read \
after an if is set on both paths. Empty is success; a failure stops the plan.
EXAMPLE {"steps": [{"type": "crm/list_orders", "arguments": {"since": "2026-01-01"}, "out": "$o"}, {"type": "group", \
"target": "$o.orders", "by": ["customer"], "aggregates": {"sum": "sum(total)"}, "out": "$g"}, {"type": \
"filter-structured", "target": "$g", "where": "sum > 1000", "out": "$big"}, {"type": "for-each", "target": "$big", \
"as": "$c", "do": [{"type": "mail/send", "arguments": {"to": "$c.customer", "text": "You spent ${c.sum}."}, "out": \
"$m"}], "collect": "$m", "out": "$sent"}], "result": "$big"}"""

_SHORT_HEAD: Final = """\
A plan is JSON: {"steps":[…],"inputs":{"n":{"type":"integer"}},"result":"$x"} (else the last one's).
STEP {"type":VERB|"server/tool"|"plan:NAME",…,"out":"$x"}. Arguments of tools and plans stand in "arguments":{…}, \
those of verbs beside "type". "name" keeps a result beyond the run. "on_fail":"continue" or [steps].
VALUES "$x", "$x.key[0]" (-1: last) is a value, "… ${x.key} …" text with it. Conditions and expressions are SQL: \
"$n > 1". Dates are ISO texts; only CAST converts."""

_SHORT_VERBS: Final[Mapping[str, str]] = {
    "query": 'sql, one SELECT over lists: "SELECT o.who AS who, sum(i.price) AS total FROM $x.orders o, '
    'UNNEST(o.items) AS i GROUP BY o.who" (`content`: an item that is no object), notes(title, path, tags, text, '
    "properties by name), items(note, text, done, due). The usual functions, and contains(text or list, v) "
    "split(s, sep) matches(s, re) regexp_extract(s, re, group) date_add(d, days) days(from, to) strftime(d, '%Y-%m')",
    "split": 'target, delimiter ("line" or any text)',
    "coerce": "target, coercion json (text to data)",
    "pluck": "target, field",
    "compute": "expression",
    "create-note": "value",
    "discover-notes": 'query, limit (5 or "all"), where → [{text, metadata: {source_id, title, source: {its '
    "properties}}}]",
}
_SHORT_CONTROL: Final[Mapping[str, str]] = {
    "if": "condition, then, else",
    "for-each": 'target, as "$item", do, collect "$y"',
    "while": "condition, body",
}
_BY_SQL: Final = frozenset(
    {"filter-structured", "project", "sort", "group", "distinct", "join", "union", "intersection", "difference"}
    | {"head", "tail", "size", "create-collection", "map"}
)
"""Verbs and forms that the short page does not name: `query` or `for-each` does the same."""
_SHORT_TAIL: Final = """\
EXAMPLE {"steps":[{"type":"crm/list_orders","arguments":{"since":"2026-01-01"},"out":"$o"},{"type":"query","sql":\
"SELECT who, sum FROM $o.orders WHERE sum > 99","out":"$big"},{"type":"for-each","target":"$big","as":"$c",\
"do":[{"type":"mail/send","arguments":{"to":"$c.who","text":"You spent ${c.sum}."},"out":"$m"}],"collect":"$m"}]}"""


def short_page(catalogue: Catalogue) -> str:
    """Return what most first plans need, and the names of what it does not tell, which `find` describes."""
    verbs = {name: takes for name, takes in _SHORT_VERBS.items() if catalogue.find(name) is not None}
    lines = [_SHORT_HEAD, f"VERBS {' · '.join(_verb(name, takes) for name, takes in verbs.items())}"]
    lines.append(" · ".join(_verb(name, takes) for name, takes in _SHORT_CONTROL.items()))
    others = [name for name in page_verbs() if name in _CONTROL or catalogue.find(name) is not None]
    left = sorted(name for name in others if name not in short_page_verbs() and name not in _BY_SQL)
    lines.append(f"More by name, with `find`: {' '.join(left)}; conditions, language (all of it).")
    return "\n".join([*lines, _SHORT_TAIL])


def short_page_verbs() -> dict[str, str]:
    """Return what the short page says of each verb and form, by its name."""
    return {**_SHORT_VERBS, **_SHORT_CONTROL}


def verbs_by_sql() -> frozenset[str]:
    """Return the verbs and forms that the short page leaves out, since `query` or `for-each` does the same."""
    return _BY_SQL


def language_page(catalogue: Catalogue) -> str:
    """Return the page, with those of its verbs that a vocabulary has."""
    lines = [_HEAD]
    for title, verbs in _GROUPS.items():
        entries = []
        for names, takes in verbs.items():
            there = [name for name in names.split(", ") if catalogue.find(name) is not None]
            entries += [_verb(", ".join(there), takes)] if there else []
        if entries:
            lines.append(f"{title} {' · '.join(entries)}")
    lines.append(f"CONTROL {' · '.join(_verb(name, takes) for name, takes in _CONTROL.items())}")
    return "\n".join([*lines, _TAIL])


def page_verbs() -> dict[str, str]:
    """Return what the page says of each verb and form, by its name."""
    groups = (*_GROUPS.values(), _CONTROL)
    return {name: takes for verbs in groups for names, takes in verbs.items() for name in names.split(", ")}


def _verb(name: str, takes: str) -> str:
    return f"{name} {takes}".rstrip()
