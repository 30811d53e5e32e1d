"""Places in what a variable is bound to."""

from __future__ import annotations

from plangen.mistakes import HITS, ITEMS, NOTE, note

from boundaries.parts import LIST, Pair, call, load, shown, size

PATHS: dict[str, Pair] = {
    "element, first and behind the last": ([note([1, 2]), note("$x[1]", "$y")], [note([1, 2]), note("$x[2]", "$y")]),
    "element from the end": ([note([1, 2]), note("$x[-2]", "$y")], [note([1, 2]), note("$x[-3]", "$y")]),
    "item, last and behind it": ([LIST, note("$c[1]", "$y")], [LIST, note("$c[2]", "$y")]),
    "item from the end": ([LIST, note("$c[-2]", "$y")], [LIST, note("$c[-3]", "$y")]),
    "item of one": (
        [{"type": "create-collection", "value": [1], "out": "$c"}, note("$c[0]", "$y")],
        [{"type": "create-collection", "value": [1], "out": "$c"}, note("$c[1]", "$y")],
    ),
    "item of none, handled": (
        [LIST, note("$c[1]", "$y", on_fail="continue")],
        [{"type": "create-collection", "value": [], "out": "$c"}, note("$c[0]", "$y", on_fail="continue")],
    ),
    "key, and one that is near": ([NOTE, note("$x.title", "$y")], [NOTE, note("$x.tilte", "$y")]),
    "key in a text, and one that is near": ([NOTE, shown("${x.title}")], [NOTE, shown("${x.tilte}")]),
    "key of an item": ([ITEMS, note("$c[0].title", "$y")], [ITEMS, note("$c[0].tilte", "$y")]),
    "key of a hit": ([HITS, note("$hits[0].metadata.score", "$y")], [HITS, note("$hits[0].metadata.scroe", "$y")]),
    "metadata of a hit": ([HITS, note("$hits[0].metadata.source_id", "$y")], [HITS, note("$hits[0].source_id", "$y")]),
    "own fields": ([NOTE, note("$x.@id", "$y")], [NOTE, note("$x.@ids", "$y")]),
    "own fields of a Collection": ([LIST, note("$c.@id", "$y")], [LIST, note("$c.id", "$y")]),
    "how many": ([LIST, size("$c")], [LIST, note("$c.length", "$y")]),
    "the items themselves": ([LIST, size("$c")], [LIST, size("$c.items")]),
    "a wrapper of a Collection": ([LIST, note("$c[0]", "$y")], [LIST, note("$c.results[0]", "$y")]),
    "a wrapper of a Collection in a text": ([LIST, shown("${c[0]}")], [LIST, shown("${c.results[0]}")]),
    "a wrapper of an object": (
        [call(city="Oslo"), note("$w.city", "$y")],
        [call(city="Oslo"), note("$w.result.city", "$y")],
    ),
    "a wrapper of all of an object": (
        [call(city="Oslo"), note("$w", "$y")],
        [call(city="Oslo"), note("$w.structuredContent", "$y")],
    ),
    "a key with a point in it": (
        [note({"a.b": 1}), note('$x["a.b"]', "$y")],
        [note({"a.b": 1}), note("$x.a.b", "$y")],
    ),
    "a key of a list in it": (
        [note({"l": [{"k": 1}]}), note("$x.l[0].k", "$y")],
        [note({"l": [{"k": 1}]}), note("$x.l.k", "$y")],
    ),
    "how many of a list in it": ([note({"l": [1]}), size("$x.l")], [note({"l": [1]}), note("$x.l.length", "$y")]),
    "an item of what is no list": (
        [note({"k": {"t": 1}}), note("$x.k.t", "$y")],
        [note({"k": {"t": 1}}), note("$x.k[0].t", "$y")],
    ),
    "metadata that a step gives": (
        [note(1, metadata={"mood": "calm"}), note("$x.metadata.mood", "$y")],
        [note(1, metadata={"mood": "calm"}), note("$x.metadata.modo", "$y")],
    ),
    "metadata that was forgotten": (
        [note({"a": 1}, metadata={"mood": "calm"}), note("$x.metadata.mood", "$y")],
        [note({"a": 1}, metadata={"mood": "calm"}), note("$x.mood", "$y")],
    ),
    "metadata that is in the space": (
        [load("taken"), shown("${l.metadata.mood}")],
        [load("taken"), shown("${l.metadata.modo}")],
    ),
    "what a schema names": (
        [{"type": "sky/open", "arguments": {}, "out": "$w"}, shown("${w.city}")],
        [{"type": "sky/open", "arguments": {}, "out": "$w"}, shown("${w.ctiy}")],
    ),
    "what a schema names, far": (
        [{"type": "sky/open", "arguments": {}, "out": "$w"}, note("$w.inner.deep", "$y"), shown("${y}")],
        [{"type": "sky/open", "arguments": {}, "out": "$w"}, note("$w.inner.zebra", "$y"), shown("${y}")],
    ),
    "what a schema names, read whole": (
        [{"type": "sky/open", "arguments": {}, "out": "$w"}, note("$w.inner.deep", "$y"), shown("${y}")],
        [{"type": "sky/open", "arguments": {}, "out": "$w"}, note("$w.inner.depe", "$y"), shown("${y}")],
    ),
}
