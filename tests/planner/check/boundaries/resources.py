"""Resources by their variable, name or id, and what becomes of them by changes and deletions."""

from __future__ import annotations

from plangen.mistakes import HITS, ITEMS, NOTE, note, over, when

from boundaries.parts import LIST, TEST, TOLD, Pair, beside, cond, each, gone, load, mapped, shown, size, update

RESOURCES: dict[str, Pair] = {
    "a Collection for a Note": ([LIST, load("$c")], [LIST, update("$c", 1)]),
    "a Note for a Collection": (
        [LIST, size("$c")],
        [note({"l": [1], "m": [2], "n": 1}), {"type": "head", "target": "$x", "count": 1, "out": "$o"}],
    ),
    "a list for a Collection that is changed": (
        [LIST, NOTE, {"type": "add", "target": "$c", "value": "$x"}],
        [note([1]), NOTE | {"out": "$y"}, {"type": "add", "target": "$x", "value": "$y"}],
    ),
    "a list written for a Collection": ([over("head", [1, 2], count=1)], [over("head", {"a": 1}, count=1)]),
    "a list of references for a Collection": (
        [note(1), over("head", ["$x", 2], count=1)],
        [note(1), over("head", ["$y", 2], count=1)],
    ),
    "a number for a resource": ([NOTE, load("$x")], [NOTE, LIST, load(5)]),  # type: ignore[arg-type]
    "a null for a resource": ([NOTE, update("$x", 1)], [NOTE, update(None, 1)]),  # type: ignore[arg-type]
    "a name": ([load("taken")], [load("taekn")]),
    "a name that a step gives": ([note(1, name="mine"), load("mine")], [note(1, name="mine"), load("mien")]),
    "a name that a later step gives": ([note(1, name="mine"), load("mine")], [load("mine"), note(1, name="mine")]),
    "an id": ([load("Note_1")], [load("Note_7")]),
    "an id of another kind": ([LIST, load("Note_1"), size("$c")], [LIST, load("Collection_7"), size("$c")]),
    "a variable written as a name": ([NOTE, load("$x")], [NOTE, load("x")]),
    "a table's file": ([load("taken")], [load("rows.csv")]),
    "a file of another kind": ([load("taken")], [load("rows.md")]),
    "a name by a text": ([note("taken"), load("${x}")], [note("token"), load("${x}")]),
    "a name by parts of a text": ([note("ken"), load("ta${x}")], [note("kin"), load("ta${x}")]),
    "the text of an object": ([note("taken"), load("${x}")], [note({"a": "taken"}), load("${x}")]),
    "the text of a hit": ([HITS, load("${hits[0].metadata.source_id}")], [HITS, load("${hits[0]}")]),
    "a name that may not be there": (
        [load("nobody", on_fail="continue"), shown("done")],
        [load("token", on_fail="continue"), shown("done")],
    ),
    "a name that may not be there, of another step": (
        [load("nobody", on_fail="continue")],
        [{"type": "update-note", "target": "nobody", "value": 1, "on_fail": "continue"}],
    ),
    "a name after it was moved": (
        [{"type": "name", "target": "taken", "value": "other"}, load("other")],
        [{"type": "name", "target": "taken", "value": "other"}, load("taken")],
    ),
    "an id after its name was moved": (
        [{"type": "name", "target": "taken", "value": "other"}, load("Note_1")],
        [{"type": "name", "target": "taken", "value": "other"}, load("Note_9")],
    ),
    "a name after it was removed": ([load("taken"), gone("taken")], [gone("taken"), load("taken")]),
    "removed in both branches": (
        [LIST, NOTE, when(TEST, gone("$x")), TOLD],
        [LIST, NOTE, {**when(TEST, gone("$x")), "else": [gone("$x")]}, TOLD],
    ),
    "removed in a branch of parallel": (
        [NOTE, beside([gone("$x")], [shown("a")])],
        [NOTE, beside([gone("$x")], [shown("a")]), TOLD],
    ),
    "removed in a branch of a nested parallel": (
        [NOTE, beside([beside([gone("$x")], [])], [shown("a")])],
        [NOTE, beside([beside([gone("$x")], [])], [shown("a")]), TOLD],
    ),
    "removed, and its alias": (
        [NOTE, {"type": "bind", "target": "$x", "out": "$a"}, shown("${a}"), gone("$x")],
        [NOTE, {"type": "bind", "target": "$x", "out": "$a"}, gone("$x"), shown("${a}")],
    ),
    "removed by its alias": (
        [NOTE, {"type": "bind", "target": "$x", "out": "$a"}, TOLD, gone("$a")],
        [NOTE, {"type": "bind", "target": "$x", "out": "$a"}, gone("$a"), TOLD],
    ),
    "removed, and its copy": (
        [NOTE, note("$x", "$y"), gone("$x"), shown("${y}")],
        [NOTE, note("$x", "$y"), gone("$y"), shown("${y}")],
    ),
    "bound again after it was removed": (
        [NOTE, gone("$x"), note(2, "$z"), shown("${z}")],
        [NOTE, gone("$x"), note(2, "$y"), shown("${x} ${y}")],
    ),
    "removed in a loop, bound in it": (
        [LIST, each(note("$item", "$y"), gone("$y"))],
        [LIST, each(note("$item", "$y"), gone("$y"), shown("${y}"))],
    ),
    "removed where a condition has it": (
        [NOTE, when(cond("bound", "taken"), load("taken"), gone("taken"))],
        [NOTE, when(cond("bound", "taken"), gone("taken"), load("taken"))],
    ),
    "an update is known": (
        [NOTE, update("$x", {"name": 1}), shown("${x.name}")],
        [NOTE, update("$x", {"name": 1}), shown("${x.title}")],
    ),
    "an update of an alias is known": (
        [NOTE, {"type": "bind", "target": "$x", "out": "$a"}, update("$a", {"name": 1}), shown("${x.name}")],
        [NOTE, {"type": "bind", "target": "$x", "out": "$a"}, update("$a", {"name": 1}), shown("${x.zebra}")],
    ),
    "an update of what the space has": (
        [load("taken"), update("taken", {"a": 1}), shown("${l.a}")],
        [load("taken"), update("taken", {"a": 1}), shown("${l.zebra}")],
    ),
    "an update of another": (
        [NOTE, note("t", "$y"), update("$y", {"name": 1}), shown("${x.title} ${y.name}")],
        [NOTE, note("t", "$y"), update("$y", {"name": 1}), shown("${x.name}")],
    ),
    "an update on one path": (
        [LIST, NOTE, when(TEST, update("$x", {"name": 1})), shown("${x.name} ${x.title}")],
        [LIST, NOTE, when(TEST, update("$x", {"name": 1})), shown("${x.zebra}")],
    ),
    "an update in a loop": (
        [LIST, NOTE, each(update("$x", {"name": 1})), shown("${x.name}")],
        [LIST, NOTE, each(update("$x", {"name": 1})), shown("${x.zebra}")],
    ),
    "an update in a loop, read in it before": (
        [LIST, NOTE, each(shown("${x.name}"), update("$x", {"name": 1}))],
        [LIST, NOTE, each(shown("${x.zebra}"), update("$x", {"name": 1}))],
    ),
    "an update by map": (
        [ITEMS, mapped({"type": "update-note", "value": {"name": 1}}), shown("${c[0].name} ${o}")],
        [ITEMS, mapped({"type": "update-note", "value": {"name": 1}}), shown("${c[0].zebra} ${o}")],
    ),
    "an update in a branch, read in another": (
        [NOTE, beside([update("$x", {"name": 1})], [shown("a")]), shown("${x.name}")],
        [NOTE, beside([shown("${x.zebra}")], [shown("a")]), update("$x", {"zebra": 1})],
    ),
    "an item added is counted": (
        [LIST, NOTE, {"type": "add", "target": "$c", "value": "$x"}, shown("${c[2]}")],
        [LIST, NOTE, {"type": "add", "target": "$c", "value": "$x"}, shown("${c[9].a.b} ${d}")],
    ),
    "metadata set is known": (
        [NOTE, {"type": "set-metadata", "target": "$x", "value": {"k": 1}}, shown("${x.metadata.k}")],
        [NOTE, {"type": "set-metadata", "target": "$x", "value": {"k": 1}}, shown("${x.metadata.m}")],
    ),
    "what replaces is another": (
        [NOTE, note("t", "$y", name="taken", replace=True), load("taken"), shown("${l} ${y}")],
        [NOTE, note("t", "$y", name="taken"), load("taken"), shown("${l} ${y}")],
    ),
    "what replaces is what had the name": (
        [note({"a": 1}, name="m"), note({"b": 1}, "$y", name="m", replace=True), shown("${x.b} ${y.b}")],
        [note({"a": 1}, name="m"), note({"b": 1}, "$y", name="m", replace=True), shown("${x.zebra} ${y.b}")],
    ),
    "a kind that the items have": (
        [ITEMS, each(update("$item", 1))],
        [
            {"type": "create-collection", "value": [[1]], "out": "$c"},
            each({"type": "add", "target": "$item", "value": "$c"}),
        ],
    ),
}
