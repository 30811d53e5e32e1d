"""Checking calls of tools: which tool, whether its arguments fit its schema, and what it will give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infospace.contract.arguments import UNKNOWN
from infospace.contract.catalogue import Catalogue
from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolKind
from infospace.data.paths import Path, show_parts
from infospace.schema.shapes import (
    NO_METADATA,
    CollectionShape,
    NoSuchPath,
    NoteShape,
    Schema,
    disjoint,
    schema_of_value,
    subschema_at,
    types_of,
)
from infospace.schema.value_text import describe_types
from infospace.tools.answer_content import result_schema
from infospace.tools.builtin import SERVER
from infospace.tools.toolbox import Toolbox
from planner.check.environment import Environment, Variable
from planner.check.references.places import describe_missing
from planner.check.references.values import ValueChecker
from planner.check.schemas import FitChecker
from planner.language.plan import Pages, Step, TypedCondition
from planner.language.problems import Problems, join, replace
from planner.language.references import names_in, strings
from planner.parse.conditions import may_be_truth
from planner.parse.steps import SAVED
from planner.repair.misread_places import is_same_place


class ToolChecker:
    """Checks what calls tools, against the tools that the space has."""

    def __init__(self, catalogue: Catalogue, values: ValueChecker, problems: Problems) -> None:
        self._catalogue = catalogue
        self._tools: Toolbox = catalogue.tools
        self._values = values
        self._problems = problems
        self._fit = FitChecker(values, problems)

    def find(
        self, name: str, pointer: str, *, kind: ToolKind = "tool", fix: bool = True, given: Schema | None = None
    ) -> Tool | None:
        """Return a tool of the space, or a prompt or resource; that there is none of that name is an error.

        Where it is plain which was meant, that one is returned all the same, so that its arguments are checked. Else
        those are proposed that take what the call has, whose schema is `given`.
        """
        tool = self._tools.find(name, kind)
        if tool is None:
            suggestion = self._tools.close_match(name, kind) if fix else None
            mend = replace(pointer, suggestion) if suggestion else None
            hint = f"did you mean {suggestion!r}?" if suggestion else self._tools.hint(name, kind, given)
            message = f"there is no {kind} {name!r} in this space"
            self._problems.error(f"unknown-{kind}", pointer, message, hint, mend)
            tool = self._tools.find(suggestion, kind) if suggestion else None
        return tool

    def find_for(
        self,
        name: str,
        pointer: str,
        value: Mapping[str, JSON],
        arguments: str,
        env: Environment,
        *,
        kind: ToolKind = "tool",
    ) -> Tool | None:
        """Return the tool of a call whose arguments stand at another place; these say which fit where it is missing."""
        values = None
        if value and self._tools.find(name, kind) is None and not self._problems.muted_depth:
            with self._problems.muted():
                values = self._values.value(dict(value), arguments, None, env)[1]
        return self.find(name, pointer, kind=kind, given=values)

    def named(self, raw: JSON, pointer: str, env: Environment, kind: ToolKind = "tool", arguments: JSON = None) -> Any:
        """Check an argument that is the full name of a tool, which is called with `arguments`, or of something else.

        Return it, or UNKNOWN until the run knows it.
        """
        value, schema = self._values.value(raw, pointer, None, env)
        if isinstance(value, str):
            values = arguments if isinstance(arguments, dict) and kind == "tool" else {}
            return self.find_for(value, pointer, values, pointer, env, kind=kind) or UNKNOWN
        if value is not UNKNOWN or (schema is not None and disjoint(schema, {"type": "string"})):
            message, hint = f"`{kind}` is a full name", f'"server/{kind}"'
            if kind == "tool":
                message, hint = "`tool` is a tool's full name", '"server/tool", or `$hit.metadata.tool`'
            self._problems.error("bad-argument", pointer, message, hint)
        return UNKNOWN

    def arguments(self, tool: Tool | None, value: JSON, pointer: str, env: Environment) -> None:
        """Check a tool's arguments against its schema; of a tool not known yet, the references in them."""
        if tool is None:
            self._values.value(value, pointer, None, env)
        else:
            self._fit.check(value, tool.input_schema, pointer, env, tool.full_name)

    def call(self, name: str, value: Mapping[str, JSON], pointer: str, env: Environment) -> NoteShape:
        """Check a step that is a call of a tool; return what it gives."""
        if self._is_own(name):
            self._report_space_type(name, value, pointer)
            self._values.value(dict(value), join(pointer, "arguments"), None, env)
            return NoteShape(None, NO_METADATA)
        tool = self.find_for(name, join(pointer, "type"), value, join(pointer, "arguments"), env)
        self.arguments(tool, dict(value), join(pointer, "arguments"), env)
        return NoteShape(result_schema(tool) if tool else None, NO_METADATA)

    def _is_own(self, name: str) -> bool:
        """Whether a name is that by which something that the space itself can do is found."""
        server, _, type_ = name.partition("/")
        return server == SERVER and (type_.startswith(SAVED) or self._catalogue.find(type_) is not None)

    def _report_space_type(self, name: str, value: Mapping[str, JSON], pointer: str) -> None:
        """Say how a step is written that does what the space itself can do."""
        type_, place = name.partition("/")[2], join(pointer, "type")
        mend = replace(place, type_)
        if not type_.startswith(SAVED) and value:
            nested = join(pointer, "arguments")
            mend += [{"op": "move", "from": join(nested, key), "path": join(pointer, key)} for key in value]
            mend.append({"op": "remove", "path": nested})
        self._problems.error("unknown-tool", place, f"{name!r} is not a tool of a server", self._tools.hint(name), mend)

    def condition(self, test: TypedCondition, env: Environment) -> None:
        """Check a `tool_condition`: its tool reads only, and says true or false."""
        place = join(test.pointer, "tool")
        tool = self.named(test.arguments["tool"], place, env, arguments=test.arguments.get("arguments"))
        known = tool if isinstance(tool, Tool) else None
        self.arguments(known, test.arguments.get("arguments", {}), join(test.pointer, "arguments"), env)
        if known is None:
            return
        if not known.read_only:
            message = f"{known.full_name} may change things, and a condition only reads"
            hint = "call it in a step before, and ask its result with another condition"
            self._problems.error("tool-not-read-only", place, message, hint)
        returns = result_schema(known)
        if returns is not None and not may_be_truth(returns):
            message = f"{known.full_name} does not answer true or false"
            self._problems.error("bad-condition", place, message, "call it in a step, and compare its result")

    def pages(self, step: Step, form: Pages, env: Environment) -> CollectionShape:
        """Check `pages`, in an environment that the calls may bind `$page` in; return the shape of what it gives."""
        tool = self.find(form.tool, join(step.pointer, "tool"))
        page_schema = None if tool is None else _read_as_json(result_schema(tool))
        following = None if form.next is None else self._in_answer(page_schema, form.next, join(step.pointer, "next"))
        place = join(step.pointer, "arguments")
        for page in self._page(step, form, following, env):
            inner = env.copy(loop=True)
            inner.bind(form.as_, Variable(page, (join(step.pointer, "as"),)))
            self.arguments(tool, dict(form.arguments), place, inner)
        self._pages_differ(form, place, env)
        if not form.has_first:
            self._first_call(form, tool, place)
        return CollectionShape(NoteShape(self._items(step, form, page_schema), NO_METADATA), NO_METADATA)

    def _page(self, step: Step, form: Pages, following: Schema | None, env: Environment) -> Iterator[NoteShape]:
        """Check how pages begin and go on; iterate over the shapes that `$page` has, at the first call and later."""
        numbers = form.next is None
        for name, raw in (("first", form.first), *((("step", form.step),) if numbers else ())):
            place = join(step.pointer, name)
            value, schema = self._values.value(raw, place, None, env)
            schema = schema if value is UNKNOWN else schema_of_value(value)
            if numbers and disjoint(schema, _WHOLE):
                self._problems.error("bad-value", place, f"`{name}` is a whole number, not {describe_types(schema)}")
            elif not numbers and form.has_first:
                yield NoteShape(schema, NO_METADATA)
        yield NoteShape(_WHOLE if numbers else _without_null(following), NO_METADATA)

    def _pages_differ(self, form: Pages, pointer: str, env: Environment) -> None:
        """Refuse calls that do not say which page they want; a variable that is not bound is told already."""
        names = set(names_in(dict(form.arguments)))
        if form.as_ not in names and names <= set(env.variables):
            message = f"nothing in `arguments` reads ${form.as_}, so every call would ask for the same page"
            self._problems.error("endless-loop", pointer, message, f'"arguments": {{"cursor": "${form.as_}"}}')

    def _first_call(self, form: Pages, tool: Tool | None, pointer: str) -> None:
        """Check what the first call is without, which knows no cursor."""
        for place, text in strings(dict(form.arguments)):
            at, whole = join(pointer, *place), text == f"${form.as_}"
            if whole and all(isinstance(part, str) for part in place):
                schema = {} if tool is None else subschema_at(tool.input_schema, place[:-1])
                if isinstance(schema, Mapping) and place[-1] in schema.get("required", ()):
                    message = f"the first call leaves out {place[-1]!r}, and {form.tool} needs it"
                    self._problems.error("missing-argument", at, message, '"first": the first cursor, such as ""')
            elif form.as_ in names_in(text):
                message = f"the first call has no ${form.as_}: it leaves out arguments that are exactly ${form.as_}"
                hint = f'"${form.as_}" alone as an argument, or "first": the first cursor'
                self._problems.error("unbound-variable", at, message, hint)

    def _items(self, step: Step, form: Pages, answer: Schema | None) -> Schema | None:
        """Check where an answer has its items; return the schema of one."""
        place = join(step.pointer, "items")
        results = answer if form.items is None else self._in_answer(answer, form.items, place)
        kinds = types_of(results) - {"null"}
        if kinds and "array" not in kinds:
            of = {} if answer is None else answer.get("properties", {})
            lists = [str(key) for key in of if _is_list(subschema_at(answer, (key,)))]
            hint = f'"items": "{lists[0]}"' if lists else "`items` is the path of a list"
            whose = f"the answer of {form.tool}" if form.items is None else f"`{form.items}`"
            at = step.pointer if form.items is None else place
            self._problems.error("wrong-kind", at, f"{whose} is {describe_types(results)}, not a list of items", hint)
            return None
        element = subschema_at(results, (0,)) if results is not None else None
        return None if isinstance(element, NoSuchPath) else element

    def _in_answer(self, answer: Schema | None, path: Path, pointer: str) -> Schema | None:
        """Follow a path into what a tool answers; that nothing can be there is an error."""
        subschema = subschema_at(answer, path.parts)
        if not isinstance(subschema, NoSuchPath):
            return subschema
        (message, hint), better = describe_missing(NoteShape(answer), path.parts, subschema, "the tool's answer")
        sure = better is not None and is_same_place(path.parts, better)
        fix = replace(pointer, show_parts(better)) if better is not None and sure else None
        self._problems.error("unknown-field", pointer, message, hint, fix)
        return None


_WHOLE: Schema = {"type": "integer"}


def _read_as_json(schema: Schema | None) -> Schema | None:
    """Return the schema of an answer once a text in it is read as JSON: None where it may be a text."""
    return None if "string" in types_of(schema) else schema


def _is_list(schema: Schema | NoSuchPath | None) -> bool:
    return not isinstance(schema, NoSuchPath) and types_of(schema) == {"array"}


def _without_null(schema: Schema | None) -> Schema | None:
    """Return the schema of a cursor that pages go on with: null is the end of them."""
    if schema is None:
        return None
    types = schema.get("type")
    if isinstance(types, list):
        return {**schema, "type": [one for one in types if one != "null"]}
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, list):
            return {**schema, key: [option for option in options if option != {"type": "null"}]}
    return schema
