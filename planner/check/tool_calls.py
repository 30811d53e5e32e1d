"""Checking calls of tools: which tool, whether its arguments fit its schema, and what it will give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infospace.contract.arguments import UNKNOWN
from infospace.contract.catalogue import Catalogue
from infospace.core.json_types import JSON
from infospace.core.tool import Tool, ToolKind
from infospace.schema.shapes import NO_METADATA, NoteShape, disjoint
from infospace.tools.builtin import SERVER
from infospace.tools.toolbox import Toolbox
from planner.check.environment import Environment
from planner.check.schemas import FitChecker
from planner.check.values import ValueChecker
from planner.language.plan import Test
from planner.language.problems import Problems, join, replace
from planner.parse.conditions import may_be_truth
from planner.parse.steps import SAVED


class ToolChecker:
    """Checks what calls tools, against the tools that the space has."""

    def __init__(self, catalogue: Catalogue, values: ValueChecker, problems: Problems) -> None:
        self._catalogue = catalogue
        self._tools: Toolbox = catalogue.tools
        self._values = values
        self._problems = problems
        self._fit = FitChecker(values, problems)

    def find(self, name: str, pointer: str, *, kind: ToolKind = "tool", fix: bool = True) -> Tool | None:
        """Return a tool of the space, or a prompt or resource; that there is none of that name is an error."""
        tool = self._tools.find(name, kind)
        if tool is None:
            near = self._tools.closest(name, kind) if fix else None
            mend = replace(pointer, near) if near else None
            message = f"there is no {kind} {name!r} in this space"
            self._problems.error(f"unknown-{kind}", pointer, message, self._tools.hint(name, kind), mend)
        return tool

    def named(self, written: JSON, pointer: str, env: Environment, kind: ToolKind = "tool") -> Any:
        """Check an argument that is the full name of a tool, or of a prompt or resource.

        Return it, or UNKNOWN until the run knows it.
        """
        value, schema = self._values.value(written, pointer, None, env)
        if isinstance(value, str):
            return self.find(value, pointer, kind=kind) or UNKNOWN
        if value is not UNKNOWN or (schema is not None and disjoint(schema, {"type": "string"})):
            message, hint = f"`{kind}` is a full name", f'"server/{kind}"'
            if kind == "tool":
                message, hint = "`tool` is a tool's full name", '"server/tool", or `$hit.metadata.tool`'
            self._problems.error("bad-argument", pointer, message, hint)
        return UNKNOWN

    def arguments(self, tool: Tool | None, written: JSON, pointer: str, env: Environment) -> None:
        """Check a tool's arguments against its schema; of a tool not known yet, the references in them."""
        if tool is None:
            self._values.value(written, pointer, None, env)
        else:
            self._fit.check(written, tool.input_schema, pointer, env, tool.full_name)

    def call(self, name: str, written: Mapping[str, JSON], pointer: str, env: Environment) -> NoteShape:
        """Check a step that is a call of a tool; return what it gives."""
        if self._is_own(name):
            self._own(name, written, pointer)
            self._values.value(dict(written), join(pointer, "arguments"), None, env)
            return NoteShape(None, NO_METADATA)
        tool = self.find(name, join(pointer, "type"))
        self.arguments(tool, dict(written), join(pointer, "arguments"), env)
        return NoteShape(tool.output_schema if tool else None, NO_METADATA)

    def _is_own(self, name: str) -> bool:
        """Whether a name is that by which something that the space itself can do is found."""
        server, _, type_ = name.partition("/")
        return server == SERVER and (type_.startswith(SAVED) or self._catalogue.find(type_) is not None)

    def _own(self, name: str, written: Mapping[str, JSON], pointer: str) -> None:
        """Say how a step is written that does what the space itself can do."""
        type_, place = name.partition("/")[2], join(pointer, "type")
        mend = replace(place, type_)
        if not type_.startswith(SAVED) and written:
            nested = join(pointer, "arguments")
            mend += [{"op": "move", "from": join(nested, key), "path": join(pointer, key)} for key in written]
            mend.append({"op": "remove", "path": nested})
        self._problems.error("unknown-tool", place, f"{name!r} is no tool of a server", self._tools.hint(name), mend)

    def condition(self, test: Test, env: Environment) -> None:
        """Check a `tool_condition`: its tool reads only, and says true or false."""
        place = join(test.pointer, "tool")
        tool = self.named(test.arguments["tool"], place, env)
        known = tool if isinstance(tool, Tool) else None
        self.arguments(known, test.arguments.get("arguments", {}), join(test.pointer, "arguments"), env)
        if known is None:
            return
        if not known.read_only:
            message = f"{known.full_name} may change things, and a condition only reads"
            hint = "call it in a step before, and ask its result with another condition"
            self._problems.error("tool-not-read-only", place, message, hint)
        gives = known.output_schema
        if gives is not None and not may_be_truth(gives):
            message = f"{known.full_name} does not answer true or false"
            self._problems.error("bad-condition", place, message, "call it in a step, and compare its result")
