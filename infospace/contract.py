"""What a primitive *is*. Name, schema, contract, page and table rows are all derived from one function.

@primitive(effect="pure", examples=[{"type": "size", "target": "$hits", "out": "$n"}])
async def size(args: Size, space: Infospace) -> Note[int]:
    \"\"\"Count the items of a Collection.\"\"\"
    return space.note(len(args.target))
"""

from __future__ import annotations

import builtins
import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from infospace.argument import Args, Reading, Reads, kinds_of
from infospace.errors import Invalid
from infospace.ids import Kind
from infospace.jsonvalue import JSON
from infospace.kinds import Schema, Shape, Unknown, shape_of
from infospace.paths import nearest

if TYPE_CHECKING:
    from infospace.view import Infospace

Effect: TypeAlias = Literal["pure", "reads", "writes", "calls"]
Out: TypeAlias = Literal["required", "optional", "none"]
Gives: TypeAlias = "Callable[[Mapping[str, Any], Mapping[str, Shape]], Shape]"
"""From validated arguments (unknown ones are `UNKNOWN`) and the shapes of the resources among them."""

EFFECTS: tuple[Effect, ...] = ("pure", "reads", "writes", "calls")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an entry of the catalogue, as the check and the reader of references see it."""

    name: str
    reading: Reading
    kinds: frozenset[Kind]
    schema: Schema
    required: bool
    default: Any
    description: str


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the arguments: where (a path into them), a stable code, a sentence, a hint."""

    place: tuple[str | int, ...]
    code: str
    says: str
    hint: str | None = None


class ArgumentsInvalid(Invalid):
    """Arguments that do not fit; `faults` are all of them."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        first = faults[0]
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        super().__init__(f"{first.says}{more}", hint=first.hint)
        self.faults = tuple(faults)


@dataclass(frozen=True)
class Primitive:
    """A verb: what it takes, what it does to the world, what it gives, and how to do it."""

    type: str
    model: builtins.type[Args]
    call: Callable[[Any, Infospace], Awaitable[Any]]
    effect: Effect | Callable[[Any], Effect]
    out: Out
    gives: Gives
    summary: str
    behaviour: str
    failures: Sequence[str] = ()
    examples: Sequence[Mapping[str, JSON]] = ()
    avoid: Sequence[str] = ()
    returns: str = ""
    provider: str = field(default="infospace")

    @cached_property
    def arguments(self) -> Mapping[str, Argument]:
        """The arguments by name, in the order they are declared."""
        properties = self.schema.get("properties", {})
        found = {}
        for name, info in self.model.model_fields.items():
            kinds = _kinds(info.annotation, info.metadata)
            reading = Reading.RESOURCE if kinds else _reading(info.annotation, info.metadata)
            found[name] = Argument(
                name,
                reading,
                kinds,
                {**properties[name], "$defs": self.schema.get("$defs", {})},
                info.is_required(),
                None if info.is_required() else info.get_default(),
                info.description or "",
            )
        return found

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema of the arguments."""
        return self.model.model_json_schema()

    def validate(self, arguments: Mapping[str, Any]) -> Args:
        """Return the arguments as the primitive wants them; raises ArgumentsInvalid with every fault."""
        try:
            return self.model.model_validate(dict(arguments))
        except ValidationError as error:
            details = error.errors(include_url=False)
            raise ArgumentsInvalid([self._fault(detail) for detail in details]) from None

    def _fault(self, detail: ErrorDetails) -> Fault:
        place = tuple(detail["loc"])
        name = str(place[0]) if place else ""
        match detail["type"]:
            case "missing":
                wanted = self.arguments[name].description if name in self.arguments else ""
                return Fault((), "missing-argument", f"{self.type} needs {name!r}", wanted or None)
            case "extra_forbidden":
                near = nearest(name, self.model.model_fields)
                known = ", ".join(self.model.model_fields)
                hint = f"did you mean {near!r}?" if near else f"it takes {known}"
                return Fault(place, "unknown-argument", f"{self.type} has no argument {name!r}", hint)
            case "value_error":
                return Fault(place, "bad-argument", str(detail["ctx"]["error"]), None)
        context = detail.get("ctx", {})
        where = _spell(place)
        if "says" in context:
            code = {"where": "bad-where", "kind": "wrong-kind"}.get(detail["type"], "bad-argument")
            code = "bad-where" if name == "where" else code
            return Fault(place, code, f"{where}: {context['says']}", context.get("hint"))
        given = repr(detail["input"])
        shown = given if len(given) <= 60 else given[:57] + "…"
        message = detail["msg"][:1].lower() + detail["msg"][1:]
        return Fault(place, "bad-argument", f"{where} is {shown}: {message}", _fits(self.arguments.get(name)))

    def effect_of(self, args: Args) -> Effect:
        """Return the effect of a call with these arguments."""
        return self.effect if isinstance(self.effect, str) else self.effect(args)


def _spell(place: Sequence[str | int]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"`{text}`"


def _fits(argument: Argument | None) -> str | None:
    if argument is None:
        return None
    shown = None if argument.required or argument.default is None else f"the default is {argument.default!r}"
    return "; ".join(part for part in (argument.description, shown) if part) or None


def _reading(annotation: Any, metadata: Sequence[Any]) -> Reading:
    """Return the reading that an annotation is marked with, looked for through `| None`."""
    inner = [mark for option in typing.get_args(annotation) for mark in getattr(option, "__metadata__", ())]
    marks = [mark.reading for mark in (*metadata, *inner) if isinstance(mark, Reads)]
    return marks[0] if marks else Reading.VALUE


def _kinds(annotation: Any, metadata: Sequence[Any]) -> frozenset[Kind]:
    """The kinds of a `Ref`, looked for in the annotation, through `| None`."""
    from infospace.argument import is_ref

    if any(is_ref(mark) for mark in metadata):
        return kinds_of(annotation)
    found: frozenset[Kind] = frozenset()
    for option in typing.get_args(annotation):
        marks = getattr(option, "__metadata__", ())
        if any(is_ref(mark) for mark in marks):
            found |= kinds_of(option.__origin__)
    return found


def primitive(
    *,
    effect: Effect | Callable[[Any], Effect],
    out: Out = "optional",
    gives: Gives | None = None,
    failures: Sequence[str] = (),
    examples: Sequence[Mapping[str, JSON]] = (),
    avoid: Sequence[str] = (),
) -> Callable[[Callable[..., Awaitable[Any]]], Primitive]:
    """Make a primitive of `async def some_verb(args: SomeArgs, space: Infospace) -> …`.

    The step type is the function's name with dashes; kinds come from the return annotation, or from
    `gives` where they depend on the arguments. The docstring's first line is the summary, the rest the
    behaviour. Raises TypeError where the declaration is wrong.
    """

    def make(function: Callable[..., Awaitable[Any]]) -> Primitive:
        name = function.__name__.rstrip("_").replace("_", "-")
        if not inspect.iscoroutinefunction(function):
            raise TypeError(f"primitive {name!r}: {function.__name__} is not an `async def`")
        if not isinstance(effect, str) and not callable(effect):
            raise TypeError(f"primitive {name!r}: effect is {effect!r}, not a word or a function")
        if isinstance(effect, str) and effect not in EFFECTS:
            raise TypeError(f"primitive {name!r}: effect is {effect!r}, not one of {', '.join(EFFECTS)}")
        hints = typing.get_type_hints(function, include_extras=True, localns=_names())
        model = hints.get("args")
        if not (isinstance(model, type) and issubclass(model, Args)):
            raise TypeError(f"primitive {name!r}: the first parameter is `args`, of a class made from Args")
        doc = inspect.getdoc(function)
        if not doc:
            raise TypeError(f"primitive {name!r} has no docstring, and so no contract")
        summary, _, behaviour = doc.partition("\n")
        returned = hints.get("return")
        shape = Unknown() if returned in (None, type(None)) else shape_of(returned)
        return Primitive(
            type=name,
            model=model,
            call=function,
            effect=effect,
            out="none" if returned is type(None) else out,
            gives=gives or (lambda _arguments, _shapes: shape),
            summary=summary.strip(),
            behaviour=behaviour.strip(),
            failures=failures,
            examples=examples,
            avoid=avoid,
            returns=_returned(returned),
        )

    return make


def _names() -> dict[str, Any]:
    from infospace.view import Infospace

    return {"Infospace": Infospace}


def _returned(annotation: Any) -> str:
    if annotation is type(None):
        return "nothing"
    kinds = kinds_of(annotation)
    return " or ".join(sorted(kinds)) if len(kinds) < len(Kind) else "the same kind"
