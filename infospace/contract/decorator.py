"""What a primitive *is*. Name, schema, contract, page and table rows are all derived from one function.

@primitive(effect="pure", examples=[{"type": "size", "target": "$hits", "out": "$n"}])
async def size(args: Size, context: Context) -> Note[int]:
    \"\"\"Count the items of a Collection.\"\"\"
    return context.note(len(args.target))
"""

from __future__ import annotations

import builtins
import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import ValidationError

from infospace.contract.argument_errors import ArgumentError, ArgumentsInvalid, argument_errors
from infospace.contract.arguments import (
    Args,
    ItemSchema,
    ParseAs,
    ParseMode,
    PathsOf,
    argument_name,
    is_found_by_title,
    is_ref,
    kinds_of,
)
from infospace.core.ids import Kind
from infospace.core.json_types import JSON
from infospace.schema.shapes import Schema, Shape, shape_of

__all__ = ["Argument", "ArgumentError", "ArgumentsInvalid", "Effect", "Out", "Primitive", "ShapeRule", "primitive"]

if TYPE_CHECKING:
    from infospace.context.context import Context
    from infospace.core.tool import Tool

Effect: TypeAlias = Literal["pure", "reads", "writes", "calls"]
Out: TypeAlias = Literal["required", "optional", "none"]
Extra: TypeAlias = "Callable[[Mapping[str, Any]], Schema | None]"
ShapeRule: TypeAlias = "Callable[[Mapping[str, Any], Mapping[str, Shape]], Shape | None]"
"""From validated arguments (unknown ones are `UNKNOWN`) and the shapes of the resources among them; None: nothing.

May raise Invalid: what is wrong with `target` as the shapes have it.
"""

EFFECTS: tuple[Effect, ...] = ("pure", "reads", "writes", "calls")
OUTS: tuple[Out, ...] = ("required", "optional", "none")

STEP_FIELDS = ("type", "out", "arguments", "id", "name", "replace", "on_fail", "retry", "timeout_s", "expect")
"""What a step says beside the arguments of its primitive, which stand flat among these."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an entry of the catalogue, as the check and the reader of references see it."""

    name: str
    reading: ParseMode
    kinds: frozenset[Kind]
    schema: Schema
    required: bool
    default: Any
    description: str
    within: tuple[str, ...] = ("target",)
    """The resource arguments in whose items a path in this one is read."""
    holding: Schema | None = None
    """What the contents of a Collection's items have to fit."""
    by_title: bool = False
    """Whether a Note is found by its title, alias or file too, where it is the only one that has it."""


@dataclass(frozen=True)
class Primitive:
    """A verb: what it takes, what it does to the world, what it gives, and how to do it."""

    type: str
    model: builtins.type[Args]
    call: Callable[[Any, Context], Awaitable[Any]]
    effect: Effect | Callable[[Any], Effect]
    out: Out
    gives: ShapeRule
    summary: str
    behaviour: str
    failures: Sequence[str] = ()
    examples: Sequence[Mapping[str, JSON]] = ()
    avoid: Sequence[str] = ()
    returns: str = ""
    provider: str = field(default="infospace")
    changes: ShapeRule | None = None
    """The shape that `target`, changed in place, has afterwards; None of it is deleted."""
    names: str | None = None
    """The argument that is a name, which the call gives to its result."""
    extra_schema: Extra | None = None
    """The schema of the answer's `extra`, where it is told."""
    asks: bool = False
    """Whether a call asks the language model at least once."""
    waits: bool | None = None
    """Whether a call may wait for something beside the loop; None where nothing is said of it."""
    formerly: Sequence[str] = ()
    """What plans for earlier runtimes call it."""
    renamed: Mapping[str, str | None] = field(default_factory=dict)
    """What they call its arguments, with their names here; None for one that is no more."""

    def takes_list(self, name: str) -> bool:
        """Whether a list is taken for a Collection in an argument: where nothing but a Collection fits.

        What is changed in place is a Collection that there is: a list would be changed and forgotten.
        """
        in_place = self.effect == "writes" and name == "target"
        return self.arguments[name].kinds == {Kind.COLLECTION} and not in_place

    @cached_property
    def arguments(self) -> Mapping[str, Argument]:
        """The arguments by name, in the order they are declared."""
        properties = self.schema.get("properties", {})
        results = {}
        for field_, info in self.model.model_fields.items():
            name = argument_name(field_)
            kinds = _kinds(info.annotation, info.metadata)
            reading = ParseMode.RESOURCE if kinds else _reading(info.annotation, info.metadata)
            results[name] = Argument(
                name,
                reading,
                kinds,
                {**properties[name], "$defs": self.schema.get("$defs", {})},
                info.is_required(),
                None if info.is_required() else info.get_default(call_default_factory=True, validated_data={}),
                info.description or "",
                next((mark.arguments for mark in info.metadata if isinstance(mark, PathsOf)), ("target",)),
                next((mark.schema for mark in info.metadata if isinstance(mark, ItemSchema)), None),
                any(map(is_found_by_title, info.metadata)),
            )
        return results

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema of the arguments."""
        return self.model.model_json_schema()

    @cached_property
    def as_tool(self) -> Tool:
        """It as a tool of the server `infospace`."""
        from infospace.tools.builtin import tool_of

        return tool_of(self)

    def validate(self, arguments: Mapping[str, Any]) -> Args:
        """Return the arguments as the primitive wants them; raises ArgumentsInvalid with every fault."""
        try:
            return self.model.model_validate(dict(arguments))
        except ValidationError as error:
            details = error.errors(include_url=False)
        raise ArgumentsInvalid(argument_errors(self.type, details, arguments, self.arguments))

    @property
    def may_wait(self) -> bool:
        """Whether there is something to gain from running calls of it side by side."""
        if self.waits is not None:
            return self.waits
        return self.asks or self.effect == "calls" or self.provider != "infospace"

    def effect_of(self, args: Args) -> Effect:
        """Return the effect of a call with these arguments."""
        return self.effect if isinstance(self.effect, str) else self.effect(args)


def _reading(annotation: Any, metadata: Sequence[Any]) -> ParseMode:
    """Return the reading that an annotation is marked with, looked for through `| None`."""
    inner = [mark for option in typing.get_args(annotation) for mark in getattr(option, "__metadata__", ())]
    marks = [mark.reading for mark in (*metadata, *inner) if isinstance(mark, ParseAs)]
    return marks[0] if marks else ParseMode.VALUE


def _kinds(annotation: Any, metadata: Sequence[Any]) -> frozenset[Kind]:
    """The kinds of a `Ref`, looked for in the annotation, through `| None`."""
    if any(is_ref(mark) for mark in metadata):
        return kinds_of(annotation)
    results: frozenset[Kind] = frozenset()
    for option in typing.get_args(annotation):
        marks = getattr(option, "__metadata__", ())
        if any(is_ref(mark) for mark in marks):
            results |= kinds_of(option.__origin__)
    return results


def primitive(
    *,
    effect: Effect | Callable[[Any], Effect],
    out: Out = "optional",
    result_shape: ShapeRule | None = None,
    changes: ShapeRule | None = None,
    names: str | None = None,
    extra_schema: Extra | None = None,
    failures: Sequence[str] = (),
    examples: Sequence[Mapping[str, JSON]] = (),
    avoid: Sequence[str] = (),
    asks: bool = False,
    waits: bool | None = None,
    formerly: Sequence[str] = (),
    renamed: Mapping[str, str | None] | None = None,
) -> Callable[[Callable[..., Awaitable[Any]]], Primitive]:
    """Make a primitive of `async def some_verb(args: SomeArgs, context: Context) -> …`.

    The step type is the function's name with dashes; kinds come from the return annotation, or from
    `result_shape` where they depend on the arguments. The docstring's first line is the summary, the rest the
    behaviour. With `names`, the step's `replace` is an argument too. Raises TypeError where the
    declaration is wrong.
    """

    def make(function: Callable[..., Awaitable[Any]]) -> Primitive:
        name = function.__name__.rstrip("_").replace("_", "-")
        hints = _hints(name, function)
        model, returned = hints["args"], hints["return"]
        _check_declaration(name, model, returned, effect, out, examples, () if names is None else ("replace",))
        summary, _, behaviour = (inspect.getdoc(function) or "").partition("\n")
        return Primitive(
            type=name,
            model=model,
            call=function,
            effect=effect,
            out="none" if returned is type(None) else out,
            gives=result_shape or (lambda _arguments, _shapes: shape_of(returned)),
            summary=summary.strip(),
            behaviour=behaviour.strip(),
            failures=failures,
            examples=examples,
            avoid=avoid,
            returns=_returned(returned),
            changes=changes,
            names=names,
            extra_schema=extra_schema,
            asks=asks,
            waits=waits,
            formerly=formerly,
            renamed=renamed or {},
        )

    return make


def _hints(name: str, function: Callable[..., Awaitable[Any]]) -> dict[str, Any]:
    """The annotations of `args` and `return`; TypeError where the function is not of the form."""
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"primitive {name!r}: {function.__name__} is not an `async def`")
    parameters = list(inspect.signature(function).parameters)
    if parameters != ["args", "context"]:
        raise TypeError(f"primitive {name!r}: its parameters are `args` and `context`, not {', '.join(parameters)}")
    if not inspect.getdoc(function):
        raise TypeError(f"primitive {name!r} has no docstring, which its contract needs")
    try:
        hints = typing.get_type_hints(function, include_extras=True, localns=_names())
    except NameError as error:
        raise TypeError(f"primitive {name!r}: an annotation cannot be read where it stands: {error}") from error
    if "return" not in hints:
        raise TypeError(f"primitive {name!r} does not say what it gives; annotate it with `-> Note` or the like")
    return {"args": None, **hints}


def _check_declaration(
    name: str,
    model: Any,
    returned: Any,
    effect: object,
    out: object,
    examples: Sequence[Mapping[str, JSON]],
    shared: Sequence[str],
) -> None:
    if not (isinstance(model, type) and issubclass(model, Args)):
        raise TypeError(f"primitive {name!r}: `args` is annotated with a class made from Args, not {model!r}")
    if returned is not type(None) and not kinds_of(returned):
        raise TypeError(f"primitive {name!r}: it gives {returned!r}, which is neither a resource nor None")
    if not callable(effect) and effect not in EFFECTS:
        raise TypeError(f"primitive {name!r}: effect is {effect!r}, not one of {', '.join(EFFECTS)}, or a function")
    if out not in OUTS:
        raise TypeError(f"primitive {name!r}: out is {out!r}, not one of {', '.join(OUTS)}")
    for field_, info in model.model_fields.items():
        own = _reading(info.annotation, info.metadata) is ParseMode.TOOL_ARGUMENTS
        if argument_name(field_) in STEP_FIELDS and field_ not in shared and not own:
            raise TypeError(f"primitive {name!r}: {field_!r} is a field of every step, and cannot be an argument")
        if _is_buried(info.annotation):
            raise TypeError(f"primitive {name!r}: {field_!r} holds references inside; `Items` is a list of resources")
    for example in examples:
        if example.get("type") != name:
            raise TypeError(f"primitive {name!r}: an example is of the type {example.get('type')!r}")


def _is_buried(annotation: Any) -> bool:
    """Whether a type that has a reading of its own stands inside a list or the like, where it has none."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, typing.Annotated):
        return any(_is_buried(option) for option in typing.get_args(annotation))
    return any(_marked(option) or _is_buried(option) for option in typing.get_args(annotation))


def _marked(annotation: Any) -> bool:
    return any(is_ref(mark) or isinstance(mark, ParseAs) for mark in getattr(annotation, "__metadata__", ()))


def _names() -> dict[str, Any]:
    from infospace.context.context import Context

    return {"Context": Context, "JSON": Any}


def _returned(annotation: Any) -> str:
    if annotation is type(None):
        return "nothing"
    kinds = kinds_of(annotation)
    words = " or ".join(sorted(kinds)) if len(kinds) < len(Kind) else "a resource"
    return f"{words} or nothing" if type(None) in typing.get_args(annotation) else words
