"""What is bound on which path through the control forms."""

from __future__ import annotations

from plangen.mistakes import ITEMS, NOTE, note, when

from boundaries.parts import BOUND, LIST, TEST, TOLD, Pair, beside, call, cond, each, load, loop, mapped, shown, size

FLOW: dict[str, Pair] = {
    "bound by both branches, by one": (
        [LIST, {**when(TEST, note(1)), "else": [note(2)]}, TOLD],
        [LIST, {**when(TEST, note(1)), "else": [note(2, "$y")]}, TOLD],
    ),
    "bound by an else alone": (
        [LIST, {**when(TEST, note(1)), "else": [note(2)]}, TOLD],
        [LIST, {**when(TEST), "else": [note(2)]}, TOLD],
    ),
    "stopped where it is not bound": (
        [LIST, {**when(TEST, {"type": "stop"}), "else": [note(2)]}, TOLD],
        [LIST, {**when(TEST, {"type": "stop"}, shown("on")), "else": [note(2)]}, TOLD],
    ),
    "stopped in one branch of parallel": (
        [LIST, beside([when(TEST, {"type": "stop"})], [note(1)]), TOLD],
        [LIST, beside([{"type": "stop"}], [note(1)]), TOLD],
    ),
    "bound within a while": (
        [note(1), loop("$x < 3", note(3)), TOLD],
        [note(1), loop("$x < 3", note(3), note(4, "$y")), shown("${y}")],
    ),
    "bound within a while, read in the next round": (
        [note(1), loop("$x < 3", note(3), note(1, "$y"), shown("${y}"))],
        [note(1), loop("$x < 3", note(3), shown("${y}"), note(1, "$y"))],
    ),
    "what ends a while": (
        [note(1), loop("$x < 3", note(3)), TOLD],
        [note(1), note(1, "$y"), loop("$y < 3", note(3)), TOLD],
    ),
    "a while that may change what it asks": (
        [LIST, NOTE, loop(TEST, {"type": "add", "target": "$c", "value": "$x"})],
        [LIST, NOTE, loop(TEST, shown("${x}"))],
    ),
    "a while that calls": (
        [NOTE, loop(cond("has_value", "$x"), call(city="Oslo"))],
        [NOTE, loop(cond("has_value", "$x"), size([1]))],
    ),
    "a while by the clock": (
        [loop("now() < '2100'", {"type": "wait", "seconds": 1})],
        [loop("now() < '2100'", {"type": "say", "value": "on"})],
    ),
    "a while that asks": (
        [loop("today() < '2100-01-01'", {"type": "ask", "value": "On?", "out": "$q"}, shown("${q}"))],
        [NOTE, loop("$x.n < 3", {"type": "ask", "value": "On?", "out": "$q"}, shown("${q}"))],
    ),
    "read in a loop, and after it": (
        [LIST, each(note("$item", "$y"), shown("${y}"))],
        [LIST, each(note("$item", "$y")), shown("${y}")],
    ),
    "the item, under its name": (
        [LIST, each(shown("${one}"), **{"as": "$one"})],
        [LIST, each(shown("${item}"), **{"as": "$one"})],
    ),
    "collects what an item binds": (
        [LIST, each(note(1, "$y"), note(2, "$z"), collect="$y", out="$o"), shown("${o} ${o[0]}")],
        [LIST, NOTE, each(note(1, "$y"), note(2, "$z"), collect="$x", out="$o"), shown("${o}")],
    ),
    "collects the item": (
        [LIST, each(shown("a"), collect="$item", out="$o"), shown("${o}")],
        [LIST, each(shown("a"), out="$o"), shown("${o}")],
    ),
    "collects what is near": (
        [LIST, each(note(1, "$sum"), collect="$sum", out="$o"), shown("${o}")],
        [LIST, each(note(1, "$sum"), collect="$smu", out="$o"), shown("${o}")],
    ),
    "what is collected has the items' fields": (
        [LIST, each(note({"a": 1}, "$y"), out="$o"), shown("${o[0].a}")],
        [LIST, each(note({"a": 1}, "$y"), out="$o"), shown("${o[0].b}")],
    ),
    "what a handler supplies has its fields": (
        [LIST, each(note({"a": 1}, "$y"), out="$o", on_fail=[note({"b": 1}, "$y")]), shown("${o[0].b}")],
        [LIST, each(note({"a": 1}, "$y"), out="$o", on_fail=[note({"b": 1}, "$z")]), shown("${o[0].b}")],
    ),
    "what a handler of a step supplies": (
        [load("taken", on_fail=[note(1, "$l")]), shown("${l}")],
        [load("taken", on_fail=[note(1, "$k")]), shown("${l}")],
    ),
    "what only a handler supplies": (
        [{"type": "say", "value": "a", "on_fail": [note(1)]}, when(BOUND, TOLD)],
        [{"type": "say", "value": "a", "on_fail": [note(1)]}, TOLD],
    ),
    "what a failed step did not bind": (
        [load("taken", on_fail="continue"), when(cond("bound", "$l"), shown("${l}"))],
        [load("taken", on_fail="continue"), shown("${l}")],
    ),
    "what is skipped where that is unbound": (
        [load("taken", on_fail="continue"), when(cond("bound", "$l"), note("${l}"), TOLD)],
        [load("taken", on_fail="continue"), note("${l}"), TOLD],
    ),
    "the error, in its handler and behind it": (
        [load("taken", on_fail=[shown("${error.reason}")])],
        [load("taken", on_fail="continue"), shown("${error.reason}")],
    ),
    "the fields of an error": (
        [load("taken", on_fail=[shown("${error.step} ${error.type} ${error.kind}")])],
        [load("taken", on_fail=[shown("${error.message}")])],
    ),
    "an error within an error's handler": (
        [load("taken", on_fail=[load("taken", on_fail=[shown("${error.kind}")]), shown("${error.kind}")])],
        [load("taken", on_fail=[load("taken", on_fail=[shown("${error.what}")]), shown("${error.that}")])],
    ),
    "until: asks what an item binds": (
        [LIST, each(note("$item", "$y"), until=cond("equals", "$y", value=1))],
        [LIST, each(note("$item", "$y"), until=cond("equals", "$z", value=1))],
    ),
    "until: an item may bind it": (
        [LIST, each(when(TEST, note(1, "$y")), until=cond("equals", "$y", value=1))],
        [LIST, each(when(TEST, note(1, "$y")), shown("${y}"), until=cond("equals", "$y", value=1))],
    ),
    "side by side: read before, and beside": (
        [NOTE, beside([note(1, "$y")], [TOLD])],
        [NOTE, beside([note(1, "$y")], [shown("${y}")])],
    ),
    "side by side: read behind": (
        [beside([note(1, "$y")], [note(2, "$z")]), shown("${y} ${z}")],
        [LIST, beside([when(TEST, note(1, "$y"))], [note(2, "$z")]), shown("${y} ${z}")],
    ),
    "side by side: bound in two, nested": (
        [beside([beside([note(1)], [note(2, "$y")])], [note(3, "$z")]), shown("${x} ${y} ${z}")],
        [beside([beside([note(1)], [note(2, "$y")])], [note(3, "$y")]), shown("${x} ${y}")],
    ),
    "side by side: bound in a loop of a branch": (
        [LIST, beside([each(note(1))], [note(3)]), TOLD],
        [LIST, beside([loop(TEST, note(1), {"type": "add", "target": "$c", "value": "$x"})], [note(3)]), TOLD],
    ),
    "map of what takes an item": (
        [LIST, mapped({"type": "coerce", "coercion": "string"}), shown("${o}")],
        [LIST, mapped({"type": "pluck", "field": "a"}), shown("${o}")],
    ),
    "map whose item is written": (
        [LIST, mapped({"type": "create-note", "value": "${item}"}), shown("${o}")],
        [LIST, mapped({"type": "create-note", "value": "${itme}"}), shown("${o}")],
    ),
    "map of a tool": (
        [ITEMS, mapped({"type": "sky/weather", "arguments": {"city": "$item.title"}}), shown("${o[0].degrees}")],
        [ITEMS, mapped({"type": "sky/weather", "arguments": {"city": "$item.n"}}), shown("${o[0].degree}")],
    ),
    "map of an operation by its name": (
        [ITEMS, mapped("get-metadata"), shown("${o}")],
        [LIST, mapped("coerce", coercoin="string"), shown("${o}")],
    ),
    "map that filters nulls": (
        [LIST, mapped({"type": "create-note", "value": {"a": 1}}), shown("${o[0].a}")],
        [LIST, mapped({"type": "create-note", "value": {"a": 1}}), shown("${o[0].b}")],
    ),
    "nested as deep as it may": (
        {"steps": [LIST, when(TEST, when(TEST, shown("a")))], "budget": {"depth": 3}},
        {"steps": [LIST, when(TEST, when(TEST, shown("a")))], "budget": {"depth": 2}},
    ),
    "a result that is bound": ({"steps": [NOTE], "result": "$x.title"}, {"steps": [NOTE], "result": "${x.title}"}),
    "a result on each path": (
        {"steps": [LIST, {**when(TEST, note(1)), "else": [note(2)]}], "result": "$x"},
        {"steps": [LIST, when(TEST, note(1))], "result": "$x"},
    ),
    "a result that a failing step may not bind": (
        {"steps": [load("taken", on_fail=[note(1, "$l")])], "result": "$l"},
        {"steps": [load("taken", on_fail="continue")], "result": "$l"},
    ),
    "an input's default of its type": (
        {"inputs": {"n": {"type": "integer", "default": 1}}, "steps": [shown("${n}")]},
        {"inputs": {"n": {"type": "integer", "default": 1.5}}, "steps": [shown("${n}")]},
    ),
    "an input's default by name": (
        {"inputs": {"n": {"kind": "Note", "default": "taken"}}, "steps": [shown("${n}")]},
        {"inputs": {"n": {"kind": "Collection", "default": "taken"}}, "steps": [shown("${n}")]},
    ),
    "an input's default that is no name": (
        {"inputs": {"n": {"kind": "Note", "default": "Note_1"}}, "steps": [shown("${n}")]},
        {"inputs": {"n": {"kind": "Note", "default": 1}}, "steps": [shown("${n}")]},
    ),
    "an input of rows": (
        {
            "inputs": {
                "n": {
                    "kind": "Collection",
                    "items": {
                        "type": "object",
                        "properties": {"a": {"type": "integer"}},
                        "additionalProperties": False,
                    },
                    "default": [{"a": 1}],
                }
            },
            "steps": [shown("${n[0].a}")],
        },
        {
            "inputs": {
                "n": {
                    "kind": "Collection",
                    "items": {
                        "type": "object",
                        "properties": {"a": {"type": "integer"}},
                        "additionalProperties": False,
                    },
                    "default": [{"a": 1}, {"a": "b"}],
                }
            },
            "steps": [shown("${n[0].b}")],
        },
    ),
    "bound once, and twice": ([note(1), TOLD], [note(1), note(2), TOLD]),
    "bound again in a loop": ([LIST, note(1), each(note("$item")), TOLD], [LIST, note(1), when(TEST, note(3)), TOLD]),
    "a step that stops last": ([NOTE, {"type": "stop", "value": "$x"}], [NOTE, {"type": "stop", "value": "$y"}]),
    "no steps": ({"steps": [shown("a")]}, {"steps": []}),
}
