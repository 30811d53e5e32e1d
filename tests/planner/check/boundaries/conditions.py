"""What conditions ask, and what they tell of variables and names."""

from __future__ import annotations

from plangen.mistakes import NOTE, note, when

from boundaries.parts import (
    BOUND,
    ELSE,
    FREE,
    LIST,
    MAYBE,
    ONE,
    TEST,
    TOLD,
    Pair,
    asked,
    call,
    cond,
    gone,
    guarded,
    load,
    loop,
    of,
    shown,
)

CONDITIONS: dict[str, Pair] = {
    "bound, then and else": (guarded(BOUND, TOLD), guarded(BOUND, None, TOLD)),
    "notbound, else and then": (guarded(FREE, None, TOLD), guarded(FREE, TOLD)),
    "and: the part before, the part behind": (guarded(of("and", BOUND, ONE)), guarded(of("and", ONE, BOUND))),
    "and: then and else": (guarded(of("and", BOUND, ONE), TOLD), guarded(of("and", BOUND, ONE), None, TOLD)),
    "and of notbound: else and then": (
        guarded(of("not", of("and", FREE, TEST)), None, shown("${c}")),
        guarded(of("and", TEST, FREE), None, TOLD),
    ),
    "or: the part before is false, or true": (guarded(of("or", FREE, ONE)), guarded(of("or", BOUND, ONE))),
    "or: else and then": (guarded(of("or", FREE, ONE), None, TOLD), guarded(of("or", FREE, ONE), TOLD)),
    "or of two that say it, or one": (
        guarded(of("or", BOUND, of("and", BOUND, TEST)), TOLD),
        guarded(of("or", BOUND, TEST), TOLD),
    ),
    "not: of notbound and of bound": (guarded(of("not", FREE), TOLD), guarded(of("not", BOUND), TOLD)),
    "not not": (guarded(of("not", of("not", BOUND)), TOLD), guarded(of("not", of("not", FREE)), TOLD)),
    "not within and, before and behind": (
        guarded(of("and", of("not", FREE), ONE)),
        guarded(of("and", ONE, of("not", FREE))),
    ),
    "a text that asks, and a text that does not": (
        guarded("$c IS NULL OR TRUE", ELSE),
        guarded("$x.n = 1", ELSE),
    ),
    "has_value of a place, then and else": (
        [call(city="Oslo"), when(cond("has_value", "$w.city"), shown("${w.city}"))],
        [call(city="Oslo"), when(cond("has_value", "$w.town"), shown("${w.city}"))],
    ),
    "compares numbers": ([NOTE, asked("gte", "$x.n", value=1)], [NOTE, asked("gte", "$x.title", value=1)]),
    "compares texts": ([NOTE, asked("lte", "$x.title", value="S")], [NOTE, asked("lte", "$x.n", value="S")]),
    "compares what is in order": (
        [NOTE, asked("greater_than", "$x.n", value="$x.n")],
        [note([1]), asked("greater_than", "$x", value=1)],
    ),
    "compares with what is in order": (
        [NOTE, asked("less_than", "$x.n", value=2)],
        [NOTE, asked("less_than", "$x.n", value=[2])],
    ),
    "equals takes all": ([NOTE, asked("equals", "$x.n", value="a")], [NOTE, asked("equals", "$x.m", value="a")]),
    "a pattern in a text": (
        [NOTE, asked("matches_pattern", "$x.title", pattern="T.*")],
        [NOTE, asked("matches_pattern", "$x.n", pattern="T.*")],
    ),
    "contains: text in a text": (
        [NOTE, asked("contains", "$x.title", value="T")],
        [NOTE, asked("contains", "$x.title", value=1)],
    ),
    "contains: element of a list": (
        [note([1]), asked("contains", "$x", value=2)],
        [note([1]), asked("contains", "$x", value="2")],
    ),
    "contains: an object in a list of objects": (
        [note([{"a": 1}]), asked("not_contains", "$x", value={"a": 2})],
        [note([{"a": 1}]), asked("not_contains", "$x", value=2)],
    ),
    "contains: key of an object": (
        [NOTE, asked("not_contains", "$x", value="n")],
        [NOTE, asked("not_contains", "$x", value=None)],
    ),
    "contains: in a number": (
        [note("1"), asked("contains", "$x", value="1")],
        [note(True), asked("contains", "$x", value="1")],
    ),
    "contains: item of a Collection": (
        [LIST, asked("contains", "$c", value=1)],
        [LIST, asked("contains", "$c[0]", value=1)],
    ),
    "asks for a name": ([asked("bound", "some name")], [asked("bound", "Note 1\nand more")]),
    "asks for an id": ([asked("notbound", "Note_1")], [asked("notbound", ["Note_1"])]),
    "asks for a name that a step gives": (
        [note(1, "$y", name="x"), note(2), asked("bound", "x"), TOLD],
        [note(1, "$y", name="z"), note(2), asked("bound", "x"), TOLD],
    ),
    "asks for a place": ([NOTE, asked("bound", "$x.n")], [NOTE, asked("bound", "$x.zebra")]),
    "asks for what a round binds": (
        [LIST, loop(cond("notbound", "$y"), note(1, "$y"))],
        [LIST, loop(cond("notbound", "$y"), note(1, "$z"), {"type": "stop"})],
    ),
    "known by what never is bound": (
        [
            LIST,
            {
                "type": "if",
                "condition": of("not", cond("has_value", "$c")),
                "then": [{"type": "stop"}],
                "else": [note(1)],
            },
            TOLD,
        ],
        [LIST, {"type": "if", "condition": cond("has_value", "$c"), "then": [note(1, "$y")], "else": [note(1)]}, TOLD],
    ),
    "a name that the space has by a condition": (
        [when(cond("bound", "anew"), load("anew"))],
        [when(cond("notbound", "anew"), load("anew"))],
    ),
    "a name that the space has not by a condition": (
        [when(cond("notbound", "taken"), note(1, name="taken"))],
        [when(cond("bound", "taken"), note(1, name="taken"))],
    ),
    "a name by a condition, after a deletion": (
        [NOTE, when(cond("bound", "anew"), load("anew"), gone("$x"))],
        [NOTE, when(cond("bound", "anew"), gone("$x"), load("anew"))],
    ),
    "a tool that says yes or no": (
        [when({"type": "tool_condition", "tool": "sky/dry", "arguments": {"city": "Oslo"}}, ELSE)],
        [when({"type": "tool_condition", "tool": "sky/dry", "arguments": {"city": 1}}, ELSE)],
    ),
    "waits for what is bound": (
        [NOTE, {"type": "wait", "condition": ONE}],
        [LIST, MAYBE, {"type": "wait", "condition": ONE}],
    ),
    "waits for seconds": ([note(1), {"type": "wait", "seconds": "$x"}], [note("1"), {"type": "wait", "seconds": "$x"}]),
    "waits for a number": ([{"type": "wait", "seconds": 0.5}], [{"type": "wait", "seconds": True}]),
    "asks with a text": (
        [note(1), {"type": "ask", "value": "${x}", "out": "$q"}],
        [note(1), {"type": "ask", "value": "$x", "out": "$q"}],
    ),
}
