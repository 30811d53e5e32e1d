"""The vocabulary as a planner should see it: the language in short, every primitive in a line, or contracts in full."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from infospace.contract.arguments import ParseMode
from infospace.contract.catalogue import Catalogue
from infospace.contract.decorator import Argument, Primitive
from infospace.contract.docs import effect_label, format_argument_type, to_json, to_markdown
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.data.json_text import dump
from planner.parse.conditions import JOINS, TESTS
from planner.parse.control_flow import FORMS
from planner.parse.grammar import grammar

PRIMER = """# infospace plans

A plan is JSON: `{"goal": "…", "inputs": {…}, "steps": [ … ], "result": "$x", "budget": {…}}`. All of it is checked \
first; a refused plan has done nothing, and each problem says where, what would have fitted, and \
often a JSON Patch that fixes it.

**Resources.** Everything is a Note (`Note_12`: JSON content, metadata), a Collection (an ordered list of resources) \
or a Relation. What a step makes is transient until `persist`, or the step's own `name`, keeps it.

**A step** is `{"type": …, its arguments flat, "out": "$x"}`. Any step may have `name` (keeps the result under a \
name; a taken name needs `"replace": true`), `on_fail` (`"stop"`, `"continue"`, or steps to run instead, which see \
`$error`), `retry`, `timeout_s`, `expect`, `id`. Tools (`"type": "server/tool"`) and saved plans \
(`"type": "plan:NAME"`) take their arguments nested in `arguments`.

**References.** `$x` is the resource, or its content where a value is wanted; `$x.title`, `$x["odd key"]`, `$x[0]`, \
`$x[-1].metadata.score` a place in it; `${x.title}` its text inside a longer text. `$$x` is the text `$x`, \
`$${x}` a dollar sign and the value. In `where`, \
`$x` is a value. `@id`, `@name`, `@title`, `@tags`, `@modified`, `@metadata` mean the resource's own; `@path`, \
`@folder`, `@file`, `@root` the file's of an imported Note; `$hits.@extra` what its step told besides \
(`${hits.@extra.certificate.matched}`). Where a Collection is wanted, a JSON list is taken for one (`"$t.rows"`, \
`["a", "$b"]`). A place that does not exist \
fails the step; ask `bound`, `empty` or `has_value` first.

**Paths** (`field`, `fields`, `by`, `on`) are written like references without the `$`: `metadata.score`, \
`["odd key"]`, `tags[0]`.

**Expressions** are SQL over paths of items, in `where` (`metadata.score >= 0.5 AND title LIKE '%plan%'`), `project` \
(`{"total": "round(price * quantity, 2)"}`), `group`, `sort` and `pluck`; over `$variables` in `compute`: `+ - * / % \
||`, comparisons, AND, OR, NOT, IN, LIKE, BETWEEN, IS NULL, CASE WHEN, CAST, TRY_CAST (to text, number, integer, \
boolean); coalesce, least, greatest, abs, round, floor, ceil, power, sqrt, lower, upper, trim, length, substr, \
replace, initcap, split(text, sep)[0], concat_ws, starts_with, contains, format, matches, regexp_extract, \
regexp_replace, today, now, date_add, days, strftime, year, month, day, weekday, complete. Nothing is converted; null \
gives null. **Aggregates**, alone or within one: `count`, count(DISTINCT e), sum, avg, median, quantile(e, q), min, \
max, first, last, bool_or, bool_and, list.

**Inputs** are JSON Schemas, or `{"kind": "Collection"}` for the resource itself: `{"topic": {"type": "string"}}` \
binds `$topic`. `{"kind": "Collection", "items": {…JSON Schema of a row…}}` takes a table: a list of rows.

**An empty result is success**: branch on `empty`, not on failure. A search result has `text`, `metadata.title`, \
`metadata.score`, `metadata.source_id`, and the found Note's metadata under `metadata.source`."""


LEGEND = (
    "`N` is a Note, `C` a Collection, `R` a Relation, `T` any of them; `*` is required, `=` a default, `a|b` one of "
    "these, `=a|b` the first by default. `→` is what it gives; what has an effect says so. Where no example stands, it "
    'is like `{"type":"head","target":"$sorted","count":3,"out":"$top"}`.'
)
_EXPRESSED = (
    "A text, which is an SQL condition over `$variables` alone: `\"$spent > $budget AND $h.status = 'down'\"`. Unknown "
    "is false, a missing place is null, a wrong type fails the step."
)
_AS_OBJECTS = ("bound", "notbound", "has_value", "empty", "contains", "validates", "tool_condition")
"""Conditions that are shown as objects; the others are read, too."""
EXAMPLE = 130
"""Characters of an example that stands in the short form, at most."""


def short(catalogue: Catalogue, names: Iterable[str] = ()) -> str:
    """Return the language and its primitives as Markdown for a prompt, a few lines each; `names` leaves others out."""
    chosen = [catalogue.get(name) for name in names] or list(catalogue)
    lines = [PRIMER, "", "## Control forms", ""]
    lines += [form_line(name) for name in FORMS]
    lines += ["", "## Conditions", "", _conditions(), "", "## Primitives", ""]
    lines += [LEGEND, ""]
    lines += [_line(entry) for entry in chosen]
    return "\n".join(lines)


def full(catalogue: Catalogue, names: Iterable[str] = ()) -> str:
    """Return contracts in full as Markdown; without `names` all of them, after the language. A form has its lines."""
    chosen = [form_line(name) if name in FORMS else to_markdown(catalogue.get(name)) for name in names]
    if chosen:
        return "\n\n".join(chosen)
    return "\n\n".join([short(catalogue), *(to_markdown(entry) for entry in catalogue)])


def machine(catalogue: Catalogue, names: Iterable[str] = ()) -> dict[str, Any]:
    """Return the vocabulary for machines: the grammar as JSON Schema, and the contracts."""
    expected = list(names)
    chosen = [catalogue.get(name) for name in expected if name not in FORMS]
    chosen = chosen if expected else list(catalogue)
    return {
        "grammar": grammar(catalogue, [entry.type for entry in chosen]),
        "forms": [
            {"type": name, "summary": form.summary, "required": form.required, "optional": form.optional}
            for name, form in FORMS.items()
            if not expected or name in expected or chosen
        ],
        "conditions": [*TESTS, *JOINS],
        "primitives": [to_json(entry) for entry in chosen],
    }


def form_line(name: str) -> str:
    """Return a control form in two lines: its fields, what it is for, and an example."""
    form = FORMS[name]
    fields = ", ".join([f"{field}*" for field in form.required] + list(form.optional))
    return f"- `{name}` ({fields}): {form.summary}\n  `{dump(dict(form.example))}`"


def _conditions() -> str:
    """Return conditions as text, and those as objects that no text says."""
    tests: dict[tuple[str, ...], list[str]] = {}
    for name in _AS_OBJECTS:
        tests.setdefault(TESTS[name], []).append(f"`{name}`")
    text = "; ".join(f"{', '.join(names)} ({', '.join(fields)})" for fields, names in tests.items())
    joins = ", ".join(f"`{name}`" for name in JOINS)
    example: JSON = {"type": "and", "of": ["$n < $most", {"type": "not", "of": {"type": "empty", "target": "$hits"}}]}
    return f"{_EXPRESSED}\nOr an object: {text}; {joins} over conditions of either form (of).\n`{dump(example)}`"


def _line(entry: Primitive) -> str:
    arguments = ", ".join(_argument(argument) for argument in entry.arguments.values())
    effect = effect_label(entry)
    tail = "" if effect in ("pure", "reads") else f", {effect}"
    gives = f"→ {_letters(entry.returns)}" if entry.out != "none" else "→ nothing"
    line = f"- `{entry.type}` ({arguments}) {gives}{tail}. {entry.summary}"
    example = dict(entry.examples[0]) if entry.examples else {}
    text = dump(example)
    return f"{line}\n  `{text}`" if _is_instructive(entry, example) and len(text) <= EXAMPLE else line


def _is_instructive(entry: Primitive, example: Mapping[str, Any]) -> bool:
    """Whether an example shows more than variables and numbers: what stands there is written in the line before."""
    given = (value for key, value in example.items() if key in entry.arguments)
    return not all(isinstance(value, int) or (isinstance(value, str) and value.startswith("$")) for value in given)


def _argument(argument: Argument) -> str:
    name = f"{argument.name}{'*' if argument.required else ''}"
    if argument.reading is ParseMode.RESOURCE:
        return f"{name}: {'T' if len(argument.kinds) == len(Kind) else _letters(format_argument_type(argument))}"
    if "enum" in argument.schema:
        first = [] if argument.required or argument.default is None else [argument.default]
        options = dict.fromkeys([*first, *argument.schema["enum"]])
        return f"{name}{'=' if first else ': '}{'|'.join(map(str, options))}"
    if argument.required or argument.default is None:
        return name
    return f"{name}={json.dumps(argument.default, ensure_ascii=False, default=str)}"


def _letters(words: str) -> str:
    """Write kinds of resources as letters."""
    for kind in Kind:
        words = words.replace(kind.value, kind.value[0])
    return words.replace("a resource", "T")


def conditions_in_full() -> str:
    """Return all conditions with the fields that each needs."""
    tests = [f"`{name}` ({', '.join(fields)})" for name, fields in TESTS.items()]
    return f"{_conditions()}\nAll of them as objects: {'; '.join(tests)}."


def contract_in_short(entry: Primitive) -> str:
    """Return a contract in few lines: its arguments, what it does, what it gives, its examples."""
    arguments = ", ".join(_argument(argument) for argument in entry.arguments.values())
    effect = effect_label(entry)
    tail = "" if effect in ("pure", "reads") else f" [{effect}]"
    gives = f"→ {_letters(entry.returns)}" if entry.out != "none" else "→ nothing"
    lines = [f"{entry.type}({arguments}) {gives}{tail}. {entry.summary}"]
    lines += [" ".join(entry.behaviour.split())] if entry.behaviour else []
    return "\n".join([*lines, *(dump(dict(example)) for example in entry.examples[:2])])


def contract_line(entry: Primitive) -> str:
    """Return a contract in a line."""
    return _line(entry).removeprefix("- ").partition("\n")[0].replace("`", "", 2)
