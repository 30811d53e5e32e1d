"""Wrong plans, a mistake each, with the code and the place of the problem that tells it."""

from __future__ import annotations

from typing import Any


def note(value: Any, out: str = "$x", **fields: Any) -> dict[str, Any]:
    return {"type": "create-note", "value": value, "out": out, **fields}


def over(type_: str, target: str = "$hits", **fields: Any) -> dict[str, Any]:
    return {"type": type_, "target": target, "out": "$o", **fields}


NOTE = note({"title": "T", "n": 1})
ITEMS = {"type": "create-collection", "value": [{"title": "T", "n": 1}], "out": "$c"}
HITS = {"type": "discover-notes", "query": "q", "out": "$hits"}
FEW = over("head", count=2)


def when(condition: Any, *then: Any) -> dict[str, Any]:
    return {"type": "if", "condition": condition, "then": list(then)}


MENDED: dict[str, tuple[Any, str, str]] = {
    # plan, code, pointer: each has a fix, and is right after it
    "type": ([{"type": "sya", "value": 1}], "unknown-type", "/0/type"),
    "type of form": ([ITEMS, {"type": "foreach", "target": "$c", "do": []}], "unknown-type", "/1/type"),
    "type of operation": ([ITEMS, over("map", "$c", operation="bnd")], "unknown-type", "/1/operation"),
    "type in operation": ([ITEMS, over("map", "$c", operation={"type": "bnd"})], "unknown-type", "/1/operation/type"),
    "key": ({"step": [NOTE], "goal": "g"}, "unknown-key", "/step"),
    "budget": ({"steps": [NOTE], "budget": {"second": 3}}, "unknown-key", "/budget/second"),
    "argument": ([ITEMS, over("head", "$c", cuont=2)], "unknown-argument", "/1/cuont"),
    "field": ([{"type": "create-note", "value": 1, "outt": "$x"}], "unknown-argument", "/0/outt"),
    "nested arguments": ([ITEMS, {"type": "size", "arguments": {"target": "$c"}}], "unknown-argument", "/1/arguments"),
    "form's field": (
        [ITEMS, {"type": "for-each", "target": "$c", "do": [], "colect": "$item"}],
        "unknown-argument",
        "/1/colect",
    ),
    "missing out": ([{"type": "discover-notes", "query": "q"}], "missing-out", "/0"),
    "unwanted out": ([{"type": "say", "value": 1, "out": "$x"}], "unwanted-out", "/0/out"),
    "bad out": ([note(1, "x")], "bad-variable", "/0/out"),
    "unbound": ([ITEMS, over("size", "$cc")], "unbound-variable", "/1/target"),
    "collect": (
        [ITEMS, {"type": "for-each", "target": "$c", "do": [note(1, "$one")], "collect": "$on"}],
        "unbound-variable",
        "/1/collect",
    ),
    "bare": ([NOTE, note("is $x.title so", "$y")], "bare-variable", "/1/value"),
    "name": ([note(1, name="given"), {"type": "load", "target": "givn"}], "unknown-name", "/1/target"),
    "dollar forgotten": ([NOTE, {"type": "load", "target": "x"}], "unknown-name", "/1/target"),
    "condition": (
        [NOTE, when({"type": "equal", "target": "$x", "value": 1})],
        "unknown-condition",
        "/1/condition/type",
    ),
    "word": ([HITS, over("sort", by="metadata.score", order="dsc")], "bad-argument", "/1/order"),
    "result": ({"steps": [NOTE], "result": "x"}, "bad-value", "/result"),
    "type key": ([{"typ": "say", "value": 1}], "missing-type", "/0"),
    "note's key": (
        [NOTE, note("$x.titel", "$z")],
        "unknown-field",
        "/1/value",
    ),
    # fields of search results, followed
    "pluck": ([HITS, over("pluck", field="metadata.scor")], "unknown-field", "/1/field"),
    "pluck title": ([HITS, over("pluck", field="title")], "unknown-field", "/1/field"),
    "sort": ([HITS, over("sort", by=["metadata.score", "metadata.titel"])], "unknown-field", "/1/by/1"),
    "where": (
        [HITS, over("filter-structured", where="score > 0.5 AND text LIKE '%score%'")],
        "unknown-field",
        "/1/where",
    ),
    "through head": (
        [HITS, {**FEW, "out": "$few"}, over("pluck", "$few", field="metadata.scor")],
        "unknown-field",
        "/2/field",
    ),
    "through filter": (
        [
            HITS,
            {**over("filter-structured", where="metadata.score > 0"), "out": "$few"},
            over("sort", "$few", by="scor"),
        ],
        "unknown-field",
        "/2/by",
    ),
    "item": ([HITS, note("$hits[0].titel", "$t")], "unknown-field", "/1/value"),
    "item of a loop": (
        [HITS, {"type": "for-each", "target": "$hits", "do": [note("$item.metadata.scor", "$t")]}],
        "unknown-field",
        "/1/do/0/value",
    ),
    "item of a map": (
        [HITS, over("map", operation={"type": "create-note", "value": "$item.titel"})],
        "unknown-field",
        "/1/operation/value",
    ),
    "in a branch": (
        [HITS, when({"type": "has_value", "target": "$hits"}, over("pluck", field="metadata.scor"))],
        "unknown-field",
        "/1/then/0/field",
    ),
    "in on_fail": (
        [HITS, {**NOTE, "on_fail": [over("pluck", field="metadata.scor")]}],
        "unknown-field",
        "/1/on_fail/0/field",
    ),
    "passage": ([HITS, over("pluck", field="metadata.passage.strat")], "unknown-field", "/1/field"),
    "under steps": ({"steps": [HITS, over("pluck", field="metadata.scor")]}, "unknown-field", "/steps/1/field"),
    "under plan": ({"plan": [HITS, over("pluck", field="metadata.scor")]}, "unknown-field", "/plan/1/field"),
}

HOPELESS: dict[str, tuple[Any, str, str]] = {
    "taken": ([note(1, name="taken")], "name-taken", "/0/name"),
    "taken in the plan": ([note(1, name="mine"), note(2, "$y", name="mine")], "name-taken", "/1/name"),
    "kind": ([NOTE, ITEMS, over("size", "$x")], "wrong-kind", "/2/target"),
    "no plan": ("text", "not-a-plan", ""),
    "no steps": ({"goal": "g"}, "not-a-plan", ""),
    "steps are no list": ({"steps": {}}, "not-a-plan", "/steps"),
    "both": ({"steps": [], "plan": []}, "unknown-key", "/plan"),
    "no step": ([3], "not-a-step", "/0"),
    "no type": ([{"value": 3}], "missing-type", "/0"),
    "type is no text": ([{"type": 3}], "missing-type", "/0/type"),
    "goal": ({"goal": 3, "steps": []}, "bad-value", "/goal"),
    "same id": ([note(1, id="a"), note(2, "$y", id="a")], "duplicate-id", "/1/id"),
    "id": ([note(1, id="4")], "bad-value", "/0/id"),
    "on_fail": ([note(1, on_fail="go on")], "bad-value", "/0/on_fail"),
    "replace alone": ([note(1, replace=True)], "bad-value", "/0/replace"),
    "budget": ({"steps": [], "budget": {"steps": -1}}, "bad-value", "/budget/steps"),
    "missing argument": ([{"type": "size"}], "missing-argument", "/0"),
    "missing field of a form": ([{"type": "if", "then": []}], "missing-argument", "/0"),
    "missing field of a condition": (
        [NOTE, when({"type": "equals", "target": "$x"})],
        "missing-argument",
        "/1/condition",
    ),
    "field of a condition": (
        [NOTE, when({"type": "empty", "target": "$x", "zzz": 1})],
        "unknown-argument",
        "/1/condition/zzz",
    ),
    "condition": ([when(3)], "bad-condition", "/0/condition"),
    "condition as text": ([when("yes")], "bad-expression", "/0/condition"),
    "empty and": ([when({"type": "and", "of": []})], "bad-condition", "/0/condition/of"),
    "nested condition": (
        [NOTE, when({"type": "not", "of": {"type": "and", "of": [{"type": "huh"}]}})],
        "unknown-condition",
        "/1/condition/of/of/0/type",
    ),
    "pattern": (
        [NOTE, when({"type": "matches_pattern", "target": "$x", "pattern": "("})],
        "bad-pattern",
        "/1/condition/pattern",
    ),
    "schema": (
        [NOTE, when({"type": "validates", "target": "$x", "schema": {"type": "text"}})],
        "bad-schema",
        "/1/condition/schema/type",
    ),
    "schema reference": (
        [NOTE, when({"type": "validates", "target": "$x", "schema": {"$ref": "#/$defs/a"}})],
        "bad-schema",
        "/1/condition/schema/$ref",
    ),
    "mixed comparison": (
        [NOTE, when({"type": "gte", "target": "$x.n", "value": "a"})],
        "bad-condition",
        "/1/condition",
    ),
    "no order": ([NOTE, when({"type": "gte", "target": "$x", "value": 1})], "bad-condition", "/1/condition/target"),
    "contains in a number": (
        [NOTE, when({"type": "contains", "target": "$x.n", "value": 1})],
        "bad-condition",
        "/1/condition/target",
    ),
    "contains no text": (
        [NOTE, when({"type": "contains", "target": "$x.title", "value": 1})],
        "bad-condition",
        "/1/condition/value",
    ),
    "bound of a number": ([when({"type": "bound", "target": 5})], "bad-condition", "/0/condition/target"),
    "where syntax": ([HITS, over("filter-structured", where="metadata.score >")], "bad-where", "/1/where"),
    "where is no text": ([HITS, over("filter-structured", where=3)], "bad-where", "/1/where"),
    "where of a search": ([{**HITS, "where": "a = = b"}], "bad-where", "/0/where"),
    "where in a loop": (
        [
            HITS,
            {
                "type": "for-each",
                "target": "$hits",
                "do": [note([], "$l"), over("filter-structured", "$hits", where="(")],
            },
        ],
        "bad-where",
        "/1/do/1/where",
    ),
    "unknown id": ([{"type": "load", "target": "Note_999"}], "unknown-id", "/0/target"),
    "id in a list": ([{"type": "create-collection", "value": ["Note_999"]}], "unknown-id", "/0/value/0"),
    "argument's type": ([ITEMS, over("head", "$c", count="two")], "bad-argument", "/1/count"),
    "argument's range": ([ITEMS, over("head", "$c", count=-1)], "bad-argument", "/1/count"),
    "variable's type": ([NOTE, ITEMS, over("head", "$c", count="$x.title")], "bad-argument", "/2/count"),
    "slice": ([NOTE, over("load", "$x.title", slice="1-2")], "bad-argument", "/1/slice"),
    "path": ([HITS, over("pluck", field="a..b")], "bad-argument", "/1/field"),
    "name's type": ([NOTE, note(1, "$y", name="$x.n")], "bad-argument", "/1/name"),
    "bad name": ([note(1, name="Note_1")], "bad-name", "/0/name"),
    "reference": ([note("${x", "$y")], "bad-reference", "/0/value"),
    "branch only": (
        [NOTE, when({"type": "has_value", "target": "$x"}, note(1, "$y")), note("$y", "$z")],
        "maybe-unbound",
        "/2/value",
    ),
    "handler only": ([note(1, on_fail=[note(2, "$y")]), note("$y", "$z")], "maybe-unbound", "/1/value"),
    "input": ({"inputs": {"1": {}}, "steps": []}, "bad-input", "/inputs/1"),
    "input's kind": ({"inputs": {"a": {"kind": "Text"}}, "steps": []}, "bad-input", "/inputs/a/kind"),
    "input's default": (
        {"inputs": {"a": {"type": "integer", "default": "x"}}, "steps": []},
        "bad-input",
        "/inputs/a/default",
    ),
    "input's default name": (
        {"inputs": {"a": {"kind": "Note", "default": "nobody"}}, "steps": []},
        "unknown-name",
        "/inputs/a/default",
    ),
    "input's default kind": (
        {"inputs": {"a": {"kind": "Collection", "default": "taken"}}, "steps": []},
        "bad-input",
        "/inputs/a/default",
    ),
    "depth": (
        {"budget": {"depth": 1}, "steps": [when({"type": "notbound", "target": "$q"}, NOTE)]},
        "too-deep",
        "/steps/0/then/0",
    ),
    "map of a form": ([ITEMS, over("map", "$c", operation={"type": "if"})], "bad-value", "/1/operation/type"),
    "out in an operation": (
        [ITEMS, over("map", "$c", operation={"type": "bind", "out": "$y"})],
        "unwanted-out",
        "/1/operation/out",
    ),
    "map of a kind": ([ITEMS, over("map", "$c", operation="size")], "wrong-kind", "/1/target"),
    "no resource": ([over("size", 3)], "wrong-kind", "/0/target"),  # type: ignore[arg-type]
    "loop over a Note": ([NOTE, {"type": "for-each", "target": "$x", "do": []}], "wrong-kind", "/1/target"),
    "key of a Collection": ([HITS, note("$hits.title", "$t")], "unknown-field", "/1/value"),
    "hit as a list": ([HITS, note("$hits[0][1]", "$t")], "unknown-field", "/1/value"),
}
