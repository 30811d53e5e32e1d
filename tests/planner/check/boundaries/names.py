"""Names that steps give."""

from __future__ import annotations

from plangen.mistakes import HITS, NOTE, note, when

from boundaries.parts import LIST, TEST, Pair, beside, each, gone, load, loop, mapped, shown

NAMES: dict[str, Pair] = {
    "given once, and twice": (
        [note(1, name="m"), note(2, "$y", name="n")],
        [note(1, name="m"), note(2, "$y", name="m")],
    ),
    "given after a removal": (
        [gone("taken"), note(1, "$y", name="fresh")],
        [gone("taken"), note(1, "$y", name="taken")],
    ),
    "given by both branches of an if": (
        [LIST, {**when(TEST, note(1, name="m")), "else": [note(2, name="m")]}],
        [LIST, {**when(TEST, note(1, name="m")), "else": [note(2, name="m")]}, note(3, "$y", name="m")],
    ),
    "given by two branches side by side": (
        [beside([note(1, name="m")], [note(2, "$y", name="n")])],
        [beside([note(1, name="m")], [note(2, "$y", name="m")])],
    ),
    "given in a loop of many": (
        [LIST, each(note("${item}", "$y", name="${item}"))],
        [LIST, each(note("$item", "$y", name="m"))],
    ),
    "given in a loop of one": (
        [note(1, name="m"), each(shown("${item}"), target=[1])],
        [{"type": "create-collection", "value": [1], "out": "$c"}, each(note("$item", "$y", name="m"))],
    ),
    "given in a loop that ends": (
        [LIST, each(note(1, "$y", name="m ${item}"), {"type": "stop"})],
        [LIST, each(note(1, "$y", name="m"), {"type": "stop"})],
    ),
    "given in a loop of unknown length": (
        [HITS, each(note(1, "$y", name="${item.@id}"), target="$hits")],
        [HITS, each(note(1, "$y", name="m"), target="$hits")],
    ),
    "given in a while": (
        [note(1), loop("$x < 3", note(3, name="m ${x}"))],
        [note(1), loop("$x < 3", note(3, name="m"))],
    ),
    "given by map": (
        [LIST, mapped({"type": "name", "value": "m ${item}"})],
        [LIST, mapped({"type": "name", "value": "m"})],
    ),
    "given by a text that is read": (
        [note("m"), note(1, "$y", name="${x}")],
        [note("taken"), note(1, "$y", name="$x.n")],
    ),
    "given as a number": ([note("m"), note(1, "$y", name="$x")], [note(7), note(1, "$y", name="$x")]),
    "no name": ([note(1, name="a name")], [note(1, name=" ")]),
    "no name, as an id": ([note(1, name="Note one")], [note(1, name="Note_12")]),
    "replace with a name": ([note(1, name="taken", replace=True)], [note(1, replace=True)]),
    "replace of name": (
        [NOTE, {"type": "name", "target": "$x", "value": "taken", "replace": True}],
        [NOTE, {"type": "name", "target": "$x", "value": "taken"}],
    ),
    "moved, and given again": (
        [note(1, name="m"), {"type": "name", "target": "$x", "value": "n"}, note(2, "$y", name="m")],
        [note(1, name="m"), {"type": "name", "target": "$x", "value": "n"}, note(2, "$y", name="n")],
    ),
    "given by a saved plan": (
        [note(1, name="other"), {"type": "plan:naming"}],
        [note(1, name="by plan"), {"type": "plan:naming"}],
    ),
    "given by a saved plan, then again": (
        [{"type": "plan:naming"}, load("by plan")],
        [{"type": "plan:naming"}, {"type": "plan:naming"}],
    ),
    "given where a step is skipped": (
        [load("taken"), note("${l}", "$y", name="m"), note(1, "$z", name="n")],
        [load("nobody", on_fail="continue"), note("${l}", "$y", name="m"), note(1, "$z", name="m")],
    ),
}
