"""Whether a failure of an accepted plan is one that the check could not foresee.

Written apart from the check: by lists of sentences that only data can lead to, and by what anybody who reads the plan
sees, which is variables that are bound once, and to what.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from plangen.positions import written

from infospace.contract.catalogue import installed
from infospace.data.paths import Path
from infospace.journal.rows import StepRow
from infospace.schema.shapes import disjoint, schema_of_value

AROUND = ("if", "while", "for-each", "parallel")
"""Forms that fail because a step in them fails, which has a row of its own."""

MAY_FAIL: Mapping[str, str] = {
    "missing": r"does not exist: ",
    "mismatch": r"`[^`]*` (computes with|compares|has \w+, which takes|looks at|joins|stands as)",
    "stopped": r"the saved plan '[^']*': step \S+ stopped the plan",
    "iterations": r"its condition still holds after",
    "condition": r"(greater_than|less_than|gte|lte) compares two|contains looks (into|for)|matches_pattern looks into",
    "budget": r"the budget of [\d,.]+ (steps|seconds) ran out",
    "unsupported": r"tools cannot be searched in this version",
    "llm-bad-answer": r"the model's answer is wrong",
    "tool": r"odd/(refuse|at_last|listed) failed: '(refused|not yet): ",
    "not-allowed": r"somebody said no",
    "pages": r"there are more pages than the [\d,]+ that `max_pages` allows",
    "timeout": r"it took longer than its `timeout_s` of 0\.02 s",
}
"""Kinds of failure that come of data, by the sentence that says so."""

CONTENT: Mapping[str, str] = {
    "coerce": r"(is|are) (no|neither|too|beyond)|the text (is|ends|has)|cannot be read|expected|JSON",
    "load": r"which has no order to slice|has no part|no order",
    "split": r"cuts a text|the object has|has no parts",
    "join": r"join merges objects",
    "update-note": r"only objects merge|stands for .* not a Note|is evidence of a search among tools",
    "set-metadata": r"is evidence of a search among tools",
    "name": r"is evidence of a search among tools",
    "remove": r"has nothing to take out|is evidence of a search among tools",
    "refine": r"is blank",
}
"""Failures of calls for which the content of what they are given is to blame, by type."""

NOTES = (
    "create-note", "compute", "size", "index", "coerce", "get-metadata", "set-metadata", "generate-note", "extract",
    "assess", "write-plan",
    "refine", "synthesize", "call-tool", "ask", "update-note", "files/read", "files/search", "files/is_ready",
    "files/write", "odd/refuse", "odd/at_last", "odd/sleep",
    "get-prompt", "read-resource",
)  # fmt: skip
LISTS = (
    "create-collection", "head", "tail", "add", "union", "intersection", "difference", "distinct", "split", "project",
    "pluck", "filter-structured", "filter-semantic", "sort", "join", "group", "query", "find-relations", "related",
    "map", "discover-notes", "discover-collections", "search-within-collection", "for-each", "pages",
)  # fmt: skip
IN_PLACE = ("update-note", "set-metadata", "name", "remove", "add")
"""Types of steps after which what was read before may be otherwise."""

_FAILED_ITEM = re.compile(r"item \d+ \(\w+\): (?:step \S+ \([^)]*\) failed: )*")
_PAGE = re.compile(r"^page [\d,]+: ")
_BLOCKS = ("then", "else", "do", "body", "branches", "on_fail")
_PLACE = re.compile(r"\$\{?([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)")
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)(.*)")


class Reader:
    """What a reader of a plan knows of its variables without following any path through it."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        steps = list(_steps(document["steps"]))
        bound = Counter(step["out"] for step in steps if isinstance(step.get("out"), str))
        other = {step.get("as", "$item") for step in steps} | {f"${name}" for name in document.get("inputs", {})}
        other |= {"$error", "$item"}
        self.once = {
            step["out"]: step
            for step in steps
            if isinstance(step.get("out"), str) and bound[step["out"]] == 1 and step["out"] not in other
        }
        types = {step["type"] for step in steps} | {_operation(step) for step in steps}
        self.changes = bool(types & set(IN_PLACE)) or any(str(type_).startswith("plan:") for type_ in types)
        """Whether anything is changed in place, or a name given anew."""
        self.rewrites = bool(types & {"update-note", "set-metadata"})
        """Whether the content of a Note may be changed."""

    def kind(self, reference: Any) -> str | None:
        """The kind of a variable that stands whole, None where a reader cannot say."""
        step = self.once.get(reference) if isinstance(reference, str) else None
        if step is None:
            return None
        return "Note" if step["type"] in NOTES else "Collection" if step["type"] in LISTS else None

    def deleted_before(self, position: str) -> Iterator[str]:
        """The variables that a step of the outermost list deletes for certain before one of the same list."""
        steps = self.document["steps"]
        labels = [step.get("id", str(index + 1)) for index, step in enumerate(steps)]
        label = position.partition("#")[0]
        for step in steps[: labels.index(label)] if label in labels else ():
            target = self.once.get(step.get("target")) if isinstance(step.get("target"), str) else None
            whole = step["type"] == "remove" and step.get("value") is None and "on_fail" not in step
            if whole and target is not None and target["type"] in ("create-note", "create-collection"):
                yield step["target"]

    def content(self, reference: Any) -> tuple[Any, ...]:
        """What a place in a variable holds, as the only element; none where it does not exist; `...`: not known."""
        found = _VARIABLE.fullmatch(reference) if isinstance(reference, str) else None
        step = self.once.get(f"${found[1]}") if found else None
        if found is None or step is None or step["type"] != "create-note" or self.rewrites or "$" in str(step["value"]):
            return (Ellipsis,)
        value = step["value"]
        if not found[2]:
            return (value,)
        path = Path.parse(found[2].lstrip("."))
        if any(isinstance(part, int) or str(part).startswith("@") or part == "metadata" for part in path.parts):
            return (Ellipsis,)
        for part in path.parts:
            if not isinstance(value, Mapping) or part not in value:
                return ()
            value = value[part]
        return (value,)


def _operation(step: Mapping[str, Any]) -> Any:
    operation = step.get("operation")
    return operation.get("type") if isinstance(operation, Mapping) else operation


def _steps(value: Any) -> Iterator[dict[str, Any]]:
    """Every step, at any depth, and what looks like one."""
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            yield value
        for inner in value.values():
            yield from _steps(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _steps(inner)


def foreseeable(document: Mapping[str, Any], row: StepRow, warned: Collection[str]) -> str | None:
    """Say why the check should have foreseen that a step fails, None where it need not.

    `warned` are the codes of the warnings that it gave.
    """
    if row.error == "bug":
        return f"a bug: {row.trace}"
    type_, reason = row.type, _PAGE.sub("", _FAILED_ITEM.sub("", row.reason or ""))
    if type_ in AROUND and row.error not in ("condition", "iterations", "missing"):
        return None if not reason.startswith("unchecked:") else _unchecked(document, row, {}, reason)
    step = written(document, row.position)
    if type_ == "map":
        operation = step["operation"]
        step = operation if isinstance(operation, dict) else {"type": operation}
        type_ = step["type"]
    if type_.startswith("plan:") and " failed: " in reason:
        return None
    if reason.startswith("unchecked:"):
        return _unchecked(document, row, step, reason)
    reader = Reader(document)
    if row.error == "missing":
        return _missing(reader, step, reason)
    if row.error in ("conflict", "not-found"):
        return _moved_on(reader, row, reason, warned)
    if row.error == "invalid" and _never(reader, step):
        return f"a reader of the plan sees that {step['target']} cannot be right: {reason}"
    if type_ == "while" and reason.startswith("its condition still holds") and _same_each_time(step):
        return f"nothing in its body changes what the loop asks: {reason}"
    allowed = CONTENT.get(type_) if row.error in ("invalid", "unreadable") else MAY_FAIL.get(row.error or "")
    if allowed is not None and re.search(allowed, reason):
        return None
    return f"not among what data may lead to: {row.error}: {reason}"


def _moved_on(reader: Reader, row: StepRow, reason: str, warned: Collection[str]) -> str | None:
    """A name or an id that is not as the snapshot had it: something in the plan must have changed it."""
    if "is at version" in reason or ("the name" in reason and not {"name-taken", "maybe-unnamed"}.isdisjoint(warned)):
        return None
    if "there is no tool" in reason and "$" in str(written(reader.document, row.position).get("tool", "")):
        return None
    if row.error != "not-found" or not reader.changes:
        return f"{row.error}: {reason}"
    gone = [
        name for name in reader.deleted_before(row.position) if name in _strings(written(reader.document, row.position))
    ]
    return f"{gone} is deleted before: {reason}" if gone else None


def _strings(step: Mapping[str, Any]) -> set[str]:
    return {value.partition(".")[0].partition("[")[0] for value in step.values() if isinstance(value, str)}


def _same_each_time(step: Mapping[str, Any]) -> bool:
    """Whether nothing in a loop binds what its condition reads, changes anything, or asks a tool."""
    asked = set(re.findall(r"\$[A-Za-z_]\w*", str(step["condition"])))
    inner = list(_steps(step["body"]))
    types = {str(one["type"]) for one in inner} | {str(_operation(one)) for one in inner}
    moves = {*IN_PLACE, "persist", "stop", "tool_condition", "call-tool", "say", "create-relation"}
    if types & moves or any("/" in type_ or ":" in type_ for type_ in types) or "tool_condition" in str(step):
        return False
    return not asked & {one.get("out") for one in inner if isinstance(one.get("out"), str)}


def _never(reader: Reader, step: Mapping[str, Any]) -> bool:
    """Whether a call is given a literal Note of a type that it can do nothing with."""
    known = reader.content(step.get("target"))
    if not known or known[0] is Ellipsis:
        return False
    match step["type"]:
        case "coerce":
            return step["coercion"] in {"int", "float", "bool"} and (
                known[0] is None or isinstance(known[0], list | dict)
            )
        case "split":
            return isinstance(known[0], int | float) and "field" not in step
    return False


def _missing(reader: Reader, step: Mapping[str, Any], reason: str) -> str | None:
    """A place that does not exist: of a literal Note the check knows every key."""
    if "/" in reason.partition(" ")[0]:
        return None
    own = {key: value for key, value in step.items() if key not in (*_BLOCKS, "condition", "operation")}
    for name, path in _PLACE.findall(str(own)):
        if reader.content(f"${name}{path}") == ():
            return f"the Note that ${name}{path} is a place in stands in the plan: {reason}"
    return None


def overlooked(document: Mapping[str, Any], row: StepRow) -> str | None:
    """Say which path of a call that ended well leads nowhere in items that stand in the plan; None for no such."""
    step = written(document, row.position)
    fields, by = step.get("fields") or [], step.get("by") or []
    paths = [step.get("field"), *_paths_of(fields), *_paths_of(by)]
    if row.type not in ("pluck", "project", "sort", "group") or "/" in row.position:
        return None
    reader = Reader(document)
    made = reader.once.get(str(step.get("target")))
    items = made.get("value") if made and made["type"] == "create-collection" and not reader.changes else None
    if not isinstance(items, list) or not items or not all(isinstance(item, Mapping) for item in items):
        return None
    for path in filter(None, paths):
        key = Path.parse(path).parts[0]
        if not str(key).startswith("@") and key not in ("metadata", "content") and not any(key in i for i in items):
            return f"no item of {step['target']} has `{path}`, as stands in the plan"
    return None


def _paths_of(written: Any) -> Iterator[str]:
    """The paths of an argument that has paths or expressions: of these the ones that are a path alone."""
    listed = written.values() if isinstance(written, Mapping) else written if isinstance(written, list) else [written]
    yield from (word.removesuffix(" desc") for word in listed if re.fullmatch(r"[@\w.]+( desc)?", word))


def _unchecked(document: Mapping[str, Any], row: StepRow, step: Mapping[str, Any], reason: str) -> str | None:
    """What is said to be beyond the check: not with a literal, nor with a variable that is plainly something else."""
    if "the arguments of" in reason and step:
        tool, given = step.get("tool", step["type"]), step.get("arguments", {})
        return None if "$" in f"{tool}{given}" else f"the call stands in the plan: {reason}"
    if re.search(r"has no argument|needs '", reason):
        return f"which arguments there are stands in the plan: {reason}"
    found = re.match(r"unchecked: `(\w+)", reason)
    if found is None or found[1] not in step or "/" in row.position:
        return None
    raw, reader = step[found[1]], Reader(document)
    if "$" not in str(raw) and not reader.changes:
        return f"`{found[1]}` stands in the plan as {raw!r}: {reason}"
    wanted = re.search(r"not a (Note|Collection)", reason)
    kind = reader.kind(raw)
    if wanted and kind is not None and kind != wanted[1]:
        return f"{raw} is a {kind} wherever it is bound: {reason}"
    entry = installed().find(step.get("type", ""))
    argument = entry.arguments.get(found[1]) if entry else None
    known = reader.content(raw)
    sure = argument is not None and not wanted and known and known[0] is not Ellipsis
    if argument is not None and sure and disjoint(schema_of_value(known[0]), argument.schema):
        return f"the Note that {raw} means stands in the plan: {reason}"
    return None
