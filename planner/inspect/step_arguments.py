"""What a step was called with: its arguments as written, what they referred to, and what that was then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from infospace.context.context import Context
from infospace.contract.arguments import ParseMode
from infospace.contract.catalogue import Catalogue
from infospace.core.errors import ExpressionInvalid, InfospaceError
from infospace.core.ids import is_id
from infospace.core.json_types import JSON
from infospace.core.resources import NOBODY, Resource, is_resource
from infospace.journal.rows import RunRow, StepRow
from infospace.space import Space
from planner.execute.arguments import Resolver
from planner.execute.variables import Scope
from planner.inspect.variable_history import Binding
from planner.language.references import ReferenceInvalid, read_text, references_in, strings
from planner.parse.positions import written_step

APART = frozenset(
    {"type", "out", "name", "replace", "expect", "id", "on_fail", "retry", "timeout_s"}
    | {"then", "else", "body", "do", "branches", "as", "collect", "filter_null", "max_pages"}
)
"""Fields of a step that are no arguments, or steps of their own."""
_EXPRESSED = (ParseMode.WHERE, ParseMode.EXPRESSION, ParseMode.EXPRESSIONS, ParseMode.SORT_KEYS, ParseMode.SQL)
_NAME_END = re.compile(r"[.\[]")
_CONDITIONS = ("condition", "until")
"""Fields of control forms whose texts are expressions."""


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """A reference in an argument, and what its variable was bound to; None where it was not bound."""

    written: str
    binding: Binding | None


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a step: as written, what it referred to, and the resource or the value that it was.

    `fault` says why that cannot be told any more.
    """

    name: str
    written: JSON
    referred: Sequence[ResolvedReference]
    resource: Resource | None = None
    value: JSON = None
    fault: str | None = None


def step_arguments(space: Space, run: RunRow, row: StepRow, bindings: Sequence[Binding]) -> list[Argument]:
    """Return the arguments of an execution, by what was bound when it began, at the versions that it read."""
    value = written_step(run, row.position)
    if value is None:
        return []
    versions = {binding.id: binding.version for binding in bindings if binding.version is not None}
    versions |= {use.id: use.version for use in row.uses}
    context, scope = HistoricalContext(space, versions), Scope()
    for binding in bindings:
        scope.bind(binding.name, binding.id)
    known = {binding.name: binding for binding in bindings}
    # Each call of `pages` has its own page among its arguments, which nothing around the step is bound to.
    own = value.get("as", "$page") if value.get("type") == "pages" else None
    entry = space.catalogue.find(str(value.get("type")))
    modes = {} if entry is None else {name: argument.reading for name, argument in entry.arguments.items()}
    results = []
    for name, raw in value.items():
        if name in APART:
            continue
        if modes.get(name) in _EXPRESSED or (name not in modes and _is_expressed(name, raw, space.catalogue)):
            # An expression is read as a whole, with its parameters typed: nothing in its text is replaced.
            results.append(Argument(name, raw, list(_parameters(raw, known)), value=raw))
        else:
            results.append(_argument(name, raw, known, context, scope, own))
    return results


class HistoricalContext(Context):
    """A view of the space as it was: of what is in `versions` that version, else the present one."""

    def __init__(self, space: Space, versions: Mapping[str, int]) -> None:
        super().__init__(space, NOBODY, scratch=True)
        self._versions = versions

    def get(self, reference: str) -> Resource:
        """Return a resource as it was, by id; by name as it is."""
        version = self._versions.get(reference)
        if version is None:
            return super().get(reference)
        with self.space.store.reading() as snapshot:
            return snapshot.get(reference, version)

    def resources(self, identifiers: Sequence[str]) -> list[Resource]:
        """Return resources by id, each as it was."""
        if not any(identifier in self._versions for identifier in identifiers):
            return super().resources(identifiers)
        with self.space.store.reading() as snapshot:
            return [snapshot.get(identifier, self._versions.get(identifier)) for identifier in identifiers]


def _argument(
    name: str, raw: JSON, bindings: Mapping[str, Binding], context: HistoricalContext, scope: Scope, own: JSON
) -> Argument:
    referred = [
        resolved_reference for resolved_reference in _referred(raw, bindings) if resolved_reference.written != own
    ]
    pages = {key: of for key, of in raw.items() if of == own} if isinstance(raw, dict) and own is not None else {}
    written, raw = raw, {key: of for key, of in raw.items() if key not in pages} if isinstance(raw, dict) else raw
    try:
        if isinstance(raw, str) and (is_id(raw) or (len(referred) == 1 and referred[0].written == raw)):
            resource = Resolver(context, scope).resource(raw)
            if is_resource(resource):
                return Argument(name, written, referred, resource=resource)
            return Argument(name, written, referred, value=cast("JSON", resource))
        value = Resolver(context, scope).value(raw)
        if isinstance(written, dict) and isinstance(value, dict):
            value = {key: pages.get(key, value.get(key)) for key in written}
        return Argument(name, written, referred, value=value)
    except InfospaceError as error:
        return Argument(name, written, referred, fault=str(error))


def _is_expressed(name: str, raw: JSON, catalogue: Catalogue) -> bool:
    """Whether a field of a control form is a condition, or an operation with an expression in it."""
    if name != "operation" or not isinstance(raw, dict):
        return name in _CONDITIONS
    entry = catalogue.find(str(raw.get("type")))
    return entry is not None and any(
        entry.arguments[key].reading in _EXPRESSED for key in raw if key in entry.arguments
    )


def _parameters(raw: JSON, bindings: Mapping[str, Binding]) -> Iterator[ResolvedReference]:
    """Iterate over what the expressions, or the objects, of a condition or an argument read."""
    names: set[str] = set()
    for place, text in strings(cast("Any", raw)):
        whole = [text] if place[-1:] in (("target",), ("value",)) else [f"${one}" for one in _read_by(text)]
        for reference in whole:
            if reference.startswith("$") and reference not in names:
                names.add(reference)
                yield ResolvedReference(reference, bindings.get(_NAME_END.split(reference[1:], 1)[0]))


def _read_by(text: str) -> Iterator[str]:
    from infospace.expressions import parameters_in
    from infospace.expressions.query.parse import parse_query

    try:
        parsed = parse_query(text)
    except ExpressionInvalid:
        yield from parameters_in(text)
        return
    yield from (*parsed.variables, *parsed.parameters)


def _referred(raw: JSON, bindings: Mapping[str, Binding]) -> Iterator[ResolvedReference]:
    names: set[str] = set()
    for _, text in strings(cast("Any", raw)):
        with suppress(ReferenceInvalid):
            for reference in references_in(read_text(text)):
                if str(reference) not in names:
                    names.add(str(reference))
                    yield ResolvedReference(str(reference), bindings.get(reference.name))
