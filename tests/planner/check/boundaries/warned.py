"""Plans that are right, of the second of which more is said."""

from __future__ import annotations

from plangen.mistakes import NOTE, note, when

from boundaries.parts import LIST, LISTED, TEST, TOLD, Pair, cond, each, load, shown, update

WARNED: dict[str, Pair] = {
    # of the one less is said than of the other, and neither is wrong
    "a place that a condition asked for": (
        [LISTED, when(cond("bound", "$w.wind"), shown("${w.wind}"))],
        [LISTED, when(cond("bound", "$w.wind"), shown("${w.rain}"))],
    ),
    "inside a place that a condition asked for": (
        [LISTED, when(cond("bound", "$w.wind.speed"), shown("${w.wind}"))],
        [LISTED, when(cond("bound", "$w.winds"), shown("${w.wind}"))],
    ),
    "a place that a condition asked for, bound again": (
        [LISTED, when(cond("bound", "$w.wind"), note(1), shown("${w.wind} ${x}"))],
        [LISTED, when(cond("bound", "$w.wind"), LISTED, shown("${w.wind}"))],
    ),
    "an input, read and not": (
        {"inputs": {"n": {"type": "integer"}}, "steps": [shown("${n}")]},
        {"inputs": {"n": {"type": "integer"}, "m": {"type": "integer"}}, "steps": [shown("${n}")]},
    ),
    "read at last": ([note(1)], [note(1), note(2, "$y")]),
    "read at last, in a branch": ([LIST, when(TEST, note(1))], [LIST, when(TEST, note(1), note(2, "$y"))]),
    "read by its handler alone": (
        [note(1), load("taken", on_fail=[TOLD])],
        [note(1), load("taken", on_fail=[shown("${error.kind}")])],
    ),
    "a question, read": (
        [{"type": "ask", "value": "a?", "out": "$q"}, shown("${q}")],
        [{"type": "ask", "value": "a?", "out": "$q"}, shown("q")],
    ),
    "a step that writes, read": (
        [NOTE, {**update("$x", 2), "out": "$y"}],
        [NOTE, {**update("$x", 2), "out": "$y"}, {"type": "head", "target": [1], "count": 1, "out": "$o"}, shown("a")],
    ),
    "what is behind a stop": ([shown("a"), {"type": "stop"}], [{"type": "stop"}, shown("a"), shown("b")]),
    "a name where a step is skipped": (
        [load("nobody", on_fail="continue"), note("${l}", "$y", name="m"), note(1, "$z", name="n")],
        [load("nobody", on_fail="continue"), note("${l}", "$y", name="m"), note(1, "$z", name="m")],
    ),
    "a name in a loop that goes on": (
        [LIST, each(note(1, "$y", name="m"), on_fail="continue")],
        [LIST, each(note(1, "$y", name="m"))],
    ),
}
