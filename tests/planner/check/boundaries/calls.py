"""Calls of verbs, tools and saved plans."""

from __future__ import annotations

from plangen.mistakes import HITS, ITEMS, NOTE, note, over, when

from boundaries.parts import LIST, Pair, call, cond, each, load, mapped, pages, saved, shown, size

CALLS: dict[str, Pair] = {
    "the extra of a step": (
        [{**HITS, "certify": True}, shown("${hits.@extra.certificate}")],
        [{**HITS, "certify": True}, shown("${hits.@extra.certify}")],
    ),
    "the extra of a step that there is not": (
        [HITS, shown("${hits.@extra.hint}")],
        [{**HITS, "certify": True}, {"type": "zebra", "out": "$y"}, shown("${hits} ${y.@extra.b} ${y.b}")],
    ),
    "a tool's argument": ([call(city="Oslo")], [call(city=1)]),
    "a tool's argument by reference": ([NOTE, call(city="$x.title")], [NOTE, call(city="$x.n")]),
    "a tool's argument in a text": ([NOTE, call(city="${x.n}")], [NOTE, call(city="a", days="${x.n}")]),
    "a tool's number by reference": ([NOTE, call(city="a", days="$x.n")], [NOTE, call(city="a", days="$x.title")]),
    "a tool's object by reference": (
        [NOTE, call(city="$x.title")],
        [note({"title": "T", "o": {"a": 1}}), call(city="$x")],
    ),
    "a tool's argument as a list": ([call(city="Oslo", days=2)], [call(city="Oslo", days=[2])]),
    "a tool's number as a text": ([call(city="Oslo", days=2)], [call(city="Oslo", days="2.0")]),
    "a tool's argument as null": ([call(city="Oslo", days=1)], [call(city="Oslo", days=None)]),
    "a tool's argument that it needs": ([call(city="Oslo")], [call()]),
    "a tool's argument by another word": ([call(city="Oslo")], [call(town="Oslo")]),
    "a tool's argument beside what it needs": ([call(city="Oslo")], [call(city="Oslo", country=None)]),
    "a tool's argument twice": ([call(city="Oslo", days=1)], [call(city="Oslo", dayz=1, days=2)]),
    "a tool's deep argument": (
        [{"type": "sky/deep", "arguments": {"where": {"city": "a", "at": [1]}}, "out": "$w"}],
        [{"type": "sky/deep", "arguments": {"where": {"cty": "a", "at": ["1"], "zebra": None}}, "out": "$w"}],
    ),
    "a tool's deep argument by reference": (
        [note({"city": "a", "at": [1]}), {"type": "sky/deep", "arguments": {"where": "$x"}, "out": "$w"}],
        [note({"city": 1, "at": ["b"]}), {"type": "sky/deep", "arguments": {"where": "$x"}, "out": "$w"}],
    ),
    "a tool's deep argument with references": (
        [NOTE, {"type": "sky/deep", "arguments": {"where": {"city": "$x.title", "at": ["$x.n"]}}, "out": "$w"}],
        [NOTE, {"type": "sky/deep", "arguments": {"where": {"city": "$x.n", "at": ["$x.title", 2]}}, "out": "$w"}],
    ),
    "a tool's choice": (
        [{"type": "sky/deep", "arguments": {"where": {"city": "a", "unit": "metric"}}, "out": "$w"}],
        [{"type": "sky/deep", "arguments": {"where": {"city": "a", "unit": "Metric"}}, "out": "$w"}],
    ),
    "a tool's bounds": (
        [{"type": "sky/deep", "arguments": {"where": {"city": "a", "level": 3}}, "out": "$w"}],
        [{"type": "sky/deep", "arguments": {"where": {"city": "a", "level": 4}}, "out": "$w"}],
    ),
    "a tool's only value": (
        [{"type": "sky/only", "arguments": {"version": "v1"}, "out": "$w"}],
        [{"type": "sky/only", "arguments": {}, "out": "$w"}],
    ),
    "a tool that takes more": (
        [{"type": "sky/loose", "arguments": {"city": "a"}, "out": "$w"}],
        [{"type": "sky/loose", "arguments": {"city": "a", "dais": 1, "zebra": 2}, "out": "$w"}],
    ),
    "a tool that takes more, of another type": (
        [{"type": "sky/loose", "arguments": {"city": "a", "days": 1}, "out": "$w"}],
        [{"type": "sky/loose", "arguments": {"city": "a", "dais": "x"}, "out": "$w"}],
    ),
    "a tool that takes more, with what was meant": (
        [{"type": "sky/loose", "arguments": {"city": "a", "days": 1}, "out": "$w"}],
        [{"type": "sky/loose", "arguments": {"cities": "a", "days": 1}, "out": "$w"}],
    ),
    "a tool's format": (
        [{"type": "sky/loose", "arguments": {"city": "a", "mail": "a@example.org"}, "out": "$w"}],
        [{"type": "sky/loose", "arguments": {"city": "a", "mail": "at example"}, "out": "$w"}],
    ),
    "a tool's format by reference": (
        [note("a@example.org"), {"type": "sky/loose", "arguments": {"city": "a", "mail": "$x"}, "out": "$w"}],
        [note("at example"), {"type": "sky/loose", "arguments": {"city": "a", "mail": "$x"}, "out": "$w"}],
    ),
    "call-tool by a hit": (
        [
            {"type": "discover-tools", "query": "q", "out": "$t"},
            {"type": "call-tool", "tool": "$t[0].metadata.tool", "arguments": {}, "out": "$r"},
        ],
        [
            {"type": "discover-tools", "query": "q", "out": "$t"},
            {"type": "call-tool", "tool": "$t[0].metadata.score", "arguments": {}, "out": "$r"},
        ],
    ),
    "call-tool by its name": (
        [{"type": "call-tool", "tool": "sky/weather", "arguments": {"city": "a"}, "out": "$r"}],
        [{"type": "call-tool", "tool": "sky/weather", "arguments": {"cty": "a"}, "out": "$r"}],
    ),
    "pages: of a list": (
        [pages(items="rows", next="next"), shown("${o[0].id}")],
        [pages(items="row", next="next"), shown("${o[0].id}")],
    ),
    "pages: items that are no list": (
        [pages(items="rows", next="next"), shown("${o}")],
        [pages(items="next", next="next"), shown("${o}")],
    ),
    "pages: of the whole answer": (
        [pages(items="rows", next="next"), shown("${o}")],
        [pages(next="next"), shown("${o}")],
    ),
    "pages: a field of an item": (
        [pages(items="rows", next="next"), shown("${o[0].id}")],
        [pages(items="rows", next="next"), shown("${o[0].di}")],
    ),
    "pages: what goes on": (
        [pages(items="rows", next="next"), shown("${o}")],
        [pages(items="rows", next="nxet"), shown("${o}")],
    ),
    "pages: first": (
        [pages(items="rows", next="next", first="a"), shown("${o}")],
        [pages(items="rows", next="next", first=1), shown("${o}")],
    ),
    "pages: by number": (
        [{**pages(items="rows", first=1), "tool": "sky/numbered", "arguments": {"page": "$page"}}, shown("${o}")],
        [{**pages(items="rows", first="one"), "tool": "sky/numbered", "arguments": {"page": "$page"}}, shown("${o}")],
    ),
    "pages: the step between": (
        [
            {**pages(items="rows", first=0, step=10), "tool": "sky/numbered", "arguments": {"page": "$page"}},
            shown("${o}"),
        ],
        [
            NOTE,
            {**pages(items="rows", first=0, step="$x.title"), "tool": "sky/numbered", "arguments": {"page": "$page"}},
            shown("${o}"),
        ],
    ),
    "pages: each asks for another": (
        [pages(items="rows", next="next"), shown("${o}")],
        [{**pages(items="rows", next="next"), "arguments": {"cursor": "a"}}, shown("${o}")],
    ),
    "pages: a first call without a cursor": (
        [pages(items="rows", next="next"), shown("${o}")],
        [{**pages(items="rows", next="next"), "arguments": {"cursor": "c ${page}"}}, shown("${o}")],
    ),
    "pages: a first call that needs a cursor": (
        [{**pages(items="rows", next="next", first=""), "tool": "sky/needing"}, shown("${o}")],
        [{**pages(items="rows", next="next"), "tool": "sky/needing"}, shown("${o}")],
    ),
    "pages: under another name": (
        [{**pages(items="rows", next="next"), "as": "$at", "arguments": {"cursor": "$at"}}, shown("${o}")],
        [{**pages(items="rows", next="next"), "as": "$at", "arguments": {"cursor": "$page"}}, shown("${o}")],
    ),
    "a saved plan's input": (
        [LIST, saved(**{"n": 1, "from": "$c"}), shown("${p}")],
        [LIST, saved(**{"n": 1.5, "from": "$c"}), shown("${p}")],
    ),
    "a saved plan's input by reference": (
        [LIST, note(1), saved(**{"n": "$x", "from": "$c"}), shown("${p}")],
        [LIST, note("1"), saved(**{"n": "$x", "from": "$c"}), shown("${p}")],
    ),
    "a saved plan's Collection": (
        [saved(**{"n": 1, "from": [1, 2]}), shown("${p}")],
        [NOTE, saved(**{"n": 1, "from": "$x"}), shown("${p}")],
    ),
    "a saved plan's inputs": (
        [LIST, saved(**{"n": 1, "from": "$c"}), shown("${p}")],
        [LIST, saved(n=1, form="$c"), shown("${p}")],
    ),
    "a saved plan's name": (
        [LIST, saved(**{"n": 1, "from": "$c"}), shown("${p}")],
        [LIST, {**saved(**{"n": 1, "from": "$c"}), "type": "plan:savde"}, shown("${p}")],
    ),
    "a saved plan by map": (
        [LIST, mapped({"type": "plan:one", "arguments": {"item": "$item"}}), shown("${o}")],
        [LIST, mapped({"type": "plan:one"}), shown("${o}")],
    ),
    "a field of items": (
        [ITEMS, over("sort", "$c", by="title"), shown("${o}")],
        [ITEMS, over("sort", "$c", by="tilte"), shown("${o}")],
    ),
    "a field of a condition": (
        [ITEMS, over("filter-structured", "$c", where="n > 1 AND title = 'a'"), shown("${o}")],
        [ITEMS, over("filter-structured", "$c", where="m > 1 AND tilte = 'a'"), shown("${o}")],
    ),
    "a minus with blanks": (
        [ITEMS, over("project", "$c", fields={"a": "n - 1"}), shown("${o}")],
        [ITEMS, over("project", "$c", fields={"a": "n-1"}), shown("${o}")],
    ),
    "a field of several": (
        [ITEMS, over("project", "$c", fields={"a": "n", "b": "title"}), shown("${o[0].a}")],
        [ITEMS, over("project", "$c", fields={"a": "n", "b": "tilte"}), shown("${o[0].c}")],
    ),
    "a field that may be missing": (
        [HITS, over("filter-structured", "$hits", where="coalesce(metadata.score, 0) > 0"), shown("${o}")],
        [HITS, over("filter-structured", "$hits", where="metadata.scroe > 0"), shown("${o}")],
    ),
    "an aggregate": (
        [ITEMS, over("group", "$c", by=["title"], aggregates={"s": "sum(n)"}), shown("${o[0].s}")],
        [ITEMS, over("group", "$c", by=["title"], aggregates={"s": "sum(title)"}), shown("${o[0].s}")],
    ),
    "a number that is too small": (
        [LIST, over("head", "$c", count=0), shown("${o}")],
        [LIST, over("head", "$c", count=-1), shown("${o}")],
    ),
    "a number by reference": (
        [LIST, note(1), over("head", "$c", count="$x"), shown("${o}")],
        [LIST, note("a"), over("head", "$c", count="$x"), shown("${o}")],
    ),
    "a number by reference of a list": (
        [LIST, note(1), over("head", "$c", count="$x"), shown("${o}")],
        [LIST, note([1]), over("head", "$c", count="$x"), shown("${o}")],
    ),
    "an argument as null": (
        [{"type": "discover-notes", "query": "q", "out": "$o"}, shown("${o}")],
        [{"type": "discover-notes", "query": "q", "limit": None, "out": "$o"}, shown("${o}")],
    ),
    "an argument that is needed": (
        [LIST, over("head", "$c", count=1), shown("${o}")],
        [LIST, over("sort", "$c"), shown("${o}")],
    ),
    "a resource that is needed": (
        [LIST, size("$c"), shown("${n}")],
        [LIST, {"type": "size", "out": "$n"}, shown("${n}")],
    ),
    "an out that is needed": ([HITS, shown("${hits}")], [{"type": "discover-notes", "query": "q"}]),
    "an out that is there, and taken": (
        [HITS, shown("${hits}")],
        [note(1, "$notes"), {"type": "discover-notes", "query": "${notes}"}],
    ),
    "an out of what gives nothing": ([shown("a")], [{"type": "say", "value": "a", "out": "$x", "name": "m"}]),
    "a value of a property": (
        [{"type": "discover-notes", "where": "metadata.mood = 'calm'", "out": "$o"}, shown("${o}")],
        [{"type": "discover-notes", "where": "metadata.mood = 'clam'", "out": "$o"}, shown("${o}")],
    ),
    "a property": (
        [{"type": "discover-notes", "where": "metadata.mood IS NULL", "out": "$o"}, shown("${o}")],
        [{"type": "discover-notes", "where": "metadata.modo IS NULL", "out": "$o"}, shown("${o}")],
    ),
    "a column": (
        [ITEMS, {"type": "query", "sql": "SELECT title FROM $c WHERE n > 1", "out": "$o"}, shown("${o[0].title}")],
        [ITEMS, {"type": "query", "sql": "SELECT tilte FROM $c WHERE m > 1", "out": "$o"}, shown("${o}")],
    ),
    "a table": (
        [ITEMS, {"type": "query", "sql": "SELECT title FROM $c", "out": "$o"}, shown("${o}")],
        [NOTE, {"type": "query", "sql": "SELECT title FROM $x", "out": "$o"}, shown("${o}")],
    ),
    "an expression": (
        [NOTE, {"type": "compute", "expression": "$x.n + 1", "out": "$o"}, shown("${o}")],
        [NOTE, {"type": "compute", "expression": "$x.title + 1", "out": "$o"}, shown("${o}")],
    ),
    "an expression with a variable": (
        [note(1), {"type": "compute", "expression": "$x + 1", "out": "$o"}, shown("${o}")],
        [note(1), {"type": "compute", "expression": "x + 1", "out": "$o"}, shown("${o}")],
    ),
    "an expression that asks for items": (
        [note(1), {"type": "compute", "expression": "complete($x)", "out": "$o"}, shown("${o}")],
        [note(1), {"type": "compute", "expression": "complete(*)", "out": "$o"}, shown("${o}")],
    ),
    "text from outside, asked about before": (
        [
            call(city="Oslo"),
            {"type": "ask", "value": "On?", "out": "$q"},
            {"type": "sky/send", "arguments": {"text": "${w.city} ${q}"}},
        ],
        [call(city="Oslo"), {"type": "sky/send", "arguments": {"text": "${w.city}"}}],
    ),
    "text from outside, and a number": (
        [call(city="Oslo"), {"type": "sky/send", "arguments": {"text": "done"}}, shown("${w}")],
        [
            call(city="Oslo"),
            when(cond("equals", "$w.city", value="a"), {"type": "sky/send", "arguments": {"text": "done"}}),
        ],
    ),
    "text from outside, by way of a list": (
        [call(city="Oslo"), {"type": "create-collection", "value": ["$w"], "out": "$k"}, shown("${k}")],
        [
            call(city="Oslo"),
            {"type": "create-collection", "value": ["$w"], "out": "$k"},
            each({"type": "sky/send", "arguments": {"text": "${item.city}"}}, target="$k"),
        ],
    ),
    "text from outside, by its name": (
        [{**call(city="Oslo"), "name": "kept"}, load("kept"), shown("${l} ${w}")],
        [
            {**call(city="Oslo"), "name": "kept"},
            load("kept"),
            {"type": "sky/send", "arguments": {"text": "${l.city} ${w}"}},
        ],
    ),
    "calls within the budget": (
        {"steps": [call(city="a"), shown("${w}")], "budget": {"tool_calls": 1}},
        {"steps": [call(city="a"), call(city="b"), shown("${w}")], "budget": {"tool_calls": 1}},
    ),
    "pages within the budget": (
        {"steps": [pages(items="rows", next="next", max_pages=3), shown("${o}")], "budget": {"tool_calls": 3}},
        {"steps": [pages(items="rows", next="next", max_pages=4), shown("${o}")], "budget": {"tool_calls": 3}},
    ),
}
