"""Plans on the command line: reading them from files, their inputs, and JSON Lines."""

from __future__ import annotations

import sys
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from infospace.core.errors import InvalidJSON, NotFound
from tui.command.common.open_space import open_from
from tui.text.output import UsageError
from tui.text.paths import SAVED, path_of, read_source

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from infospace.core.json_types import JSON
    from infospace.space import Space
    from planner.language.problems import Problem
    from planner.parse.text import Document, Lines


INPUT_BYTES = 100 * 2**20
"""Bytes of a file of inputs."""


class InputRefused(UsageError):
    """A file that is given for an input does not fit; the run is refused for it."""

    def __init__(self, name: str, message: str, hint: str | None = None) -> None:
        super().__init__(f"--input {name}: {message}", hint=hint)
        self.pointer = f"/inputs/{name}"
        self.said = message


def read_from(path: str, args: argparse.Namespace) -> Document | Lines:
    """Read a plan from a file, or from standard input for `-`: a session there line by line as it is written.

    `plan:NAME` is a saved plan of the space. Raises UsageError where there is none of that name.
    """
    from planner.parse.text import Document, read_plan, read_stream

    if path.startswith(SAVED):
        return Document(_saved(path.removeprefix(SAVED), args))
    return read_stream(sys.stdin.buffer) if path == "-" else read_plan(read_source(path))


def _saved(name: str, args: argparse.Namespace) -> JSON:
    from planner.parse.saved_plans import load_plan

    with open_from(args, create=False) as space:
        try:
            return load_plan(space, name)
        except NotFound as error:
            raise UsageError(error.message, hint=error.hint) from error


def problems_of(space: Space, read: Document | Lines, saved_as: str | None = None) -> Sequence[Problem]:
    """Return all problems of a plan in any form; raises InvalidJSON. `saved_as` is the name that it is to have."""
    from planner.execute.start import check_plan
    from planner.parse.text import Lines
    from planner.sessions.lines import check_lines

    if isinstance(read, Lines):
        return check_lines(space, [value for _, value in read.lines])
    return check_plan(space, read.value, saved_as=saved_as)[1].found


def parse_inputs(pairs: Sequence[str], file: str | None, declared: Mapping[str, Any]) -> dict[str, JSON]:
    """Return the inputs of a run: a JSON object from a file, then `name=value` pairs.

    A value is text where the input's schema admits text, and for an input with a `kind`; else JSON. For a Collection
    `@FILE` is a table, and `[…]` a list.
    """
    from infospace.data.json_text import read_json

    values: dict[str, JSON] = {}
    if file is not None:
        document = read_json(read_source(file), what=f"the input file {file!r}", max_bytes=INPUT_BYTES)
        if not isinstance(document, dict):
            raise UsageError(f"the input file {file!r} holds no JSON object", hint='{"name": value}')
        values |= document
    names = set[str]()
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} is not an input", hint="--input name=value")
        if name in names:
            raise UsageError(f"--input gives {name!r} twice", hint='a list is one value: --input \'names=["a", "b"]\'')
        names.add(name)
        spec = declared.get(name)
        if isinstance(spec, dict) and spec.get("kind") == "Collection" and value[:1] in ("@", "["):
            values[name] = _table(name, value, spec.get("items"))
        else:
            values[name] = value if _admits_text(spec) else _json(name, value)
    return values


def _table(name: str, value: str, items: Any) -> JSON:
    """Return the rows of `@FILE`, or those of a JSON list; `@@` is an `@` that begins a name."""
    if value.startswith("@@"):
        return value[1:]
    if not value.startswith("@"):
        return _json(name, value)
    from infospace.core.errors import Invalid
    from infospace.files.formats.tables import read_table
    from infospace.schema.validate import schema_errors
    from planner.language.plan import OwnedRows

    schema = items if isinstance(items, dict) and not any(schema_errors(items)) else None
    path = value[1:]
    try:
        return OwnedRows(read_table(path_of(path), schema))
    except OSError as error:
        raise InputRefused(name, f"{path!r} cannot be read: {error.strerror}") from error
    except (Invalid, InvalidJSON) as error:
        raise InputRefused(name, error.message, error.hint) from error


def declared_in(read: Document | Lines) -> tuple[Document | Lines, Mapping[str, Any]]:
    """Return what was read, and the inputs that it declares: a document's, or those of the head of a session.

    Of a session that is still written the first line is waited for. Raises InvalidJSON where that is none.
    """
    from planner.parse.text import Lines, is_head

    if not isinstance(read, Lines):
        return read, _inputs_of(read.value)
    first = list(islice(read.lines, 1))
    declared = _inputs_of(first[0][1]) if first and is_head(first[0][1]) else {}
    return Lines(chain(first, read.lines)), declared


def _inputs_of(value: JSON) -> Mapping[str, Any]:
    inputs = value.get("inputs") if isinstance(value, dict) else None
    return inputs if isinstance(inputs, dict) else {}


def _admits_text(declared: Any) -> bool:
    from infospace.schema.shapes import types_of

    if not isinstance(declared, dict):
        return True
    return "kind" in declared or "string" in types_of(declared)


def _json(name: str, value: str) -> JSON:
    """Return a value that is not text; what is no JSON stays text, and the check says that it does not fit."""
    from infospace.data.json_text import read_json

    try:
        return read_json(value, what=f"the input {name!r}")
    except InvalidJSON:
        return value
