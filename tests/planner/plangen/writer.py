"""Writing a plan step by step: what is bound where, how it is referred to, and what is made where it is missing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from plangen.things import RECORDS, TEXT, Content, Thing, literal, places, several

Step = dict[str, Any]
Fits = Callable[[Thing], bool]


def a_note(thing: Thing) -> bool:
    return thing.kind == "N"


def a_list(thing: Thing) -> bool:
    return thing.kind == "C"


def of_records(thing: Thing) -> bool:
    return thing.kind == "C" and thing.item.kind == "N" and isinstance(thing.item.holds, Mapping)


def a_record(thing: Thing) -> bool:
    return thing.kind == "N" and isinstance(thing.holds, Mapping)


def holding(*contents: str) -> Fits:
    return lambda thing: thing.kind == "N" and thing.holds in contents


def anything(_thing: Thing) -> bool:
    return True


class Writer:
    """Holds the block that is being written, and the variables that are bound at its end."""

    def __init__(self, chance: random.Random, kept: Mapping[str, Thing]) -> None:
        self.chance = chance
        self.kept = kept
        """Names and ids of the space."""
        self.names: dict[str, Thing] = {}
        self.block: list[Step] = []
        self.fixed: set[str] = set()
        """Variables that may not be bound again here."""
        self.care = 0.85 if chance.random() < 0.3 else 1.0
        """How often what is referred to fits."""
        self._count = 0

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def fresh(self) -> str:
        """A variable that nothing else is called."""
        self._count += 1
        return f"v{self._count}"

    def called(self) -> str:
        """A name for a resource that none has yet, as a rule."""
        self._count += 1
        return f"made {self._count}" if self.maybe(0.95) else "made 1"

    # Blocks

    @contextmanager
    def inside(self, names: dict[str, Thing], fixed: bool = False) -> Iterator[list[Step]]:
        """Write another block, in which these variables are bound."""
        outer = self.block, self.names, self.fixed
        self.block, self.names = [], names
        self.fixed = self.fixed | set(names) if fixed else self.fixed
        yield self.block
        self.block, self.names, self.fixed = outer

    def put(self, step: Step, gives: Thing | None = None, *, out: bool = False) -> str:
        """Append a step, and bind what it gives; return the variable, empty where it binds none."""
        name = ""
        if gives is not None and (out or self.maybe(0.93)):
            again = [name for name in self.names if name not in self.fixed]
            name = self.chance.choice(again) if again and self.maybe(0.08) else self.fresh()
            step["out"] = f"${name}"
            self.names[name] = gives
        self.block.append(step)
        return name

    # References

    def one(self, fits: Fits, make: Thing) -> str:
        """A variable, a place or a name of what fits; made by a step before where nothing does."""
        fits = fits if self.maybe(self.care) else anything
        found = [(f"${name}", thing) for name, thing in self.names.items() if fits(thing)]
        found += [
            (f"${name}[{self.chance.choice((0, -1))}]", thing.item)
            for name, thing in self.names.items()
            if thing.kind == "C" and fits(thing.item) and self.maybe(0.25)
        ]
        found += [(name, thing) for name, thing in self.kept.items() if fits(thing) and self.maybe(0.03)]
        if not found or (self.maybe(0.1) and fits is not anything):
            return f"${self.make(make)}"
        return self.chance.choice(found[-8:] if self.maybe(0.7) else found)[0]

    def about(self, reference: str) -> Thing:
        """What a reference of `one` means."""
        if not reference.startswith("$"):
            return self.kept[reference]
        name, bracket, _ = reference[1:].partition("[")
        thing = self.names[name]
        return thing.item if bracket else thing

    def make(self, thing: Thing) -> str:
        """Append steps that make such a thing; return the variable."""
        if thing.kind == "R":
            ends = {key: f"${self.make(TEXT)}" for key in ("source", "target")}
            return self.put({"type": "create-relation", **ends, "relation": "cites"}, thing, out=True)
        kind, value = "create-note", self.written(thing)
        if thing.kind == "C":
            kind = "create-collection"
            if thing.item.kind in "CR":
                value = [f"${self.make(thing.item)}"]
        return self.put({"type": kind, "value": value}, thing, out=True)

    def written(self, thing: Thing) -> Any:
        """A literal of a Note's content, or of a list of them."""
        if thing.kind == "C" and thing.item.kind in "N?":
            count = self.chance.choice((0, 1, 2, 2, 3, 4))
            return [literal(thing.item.content, self.chance) for _ in range(count)]
        return [] if thing.kind == "C" else literal(thing.content, self.chance)

    def record(self) -> Thing:
        return Thing("N", self.chance.choice(RECORDS))

    def records(self) -> str:
        """A Collection of objects."""
        return self.one(of_records, several(self.record()))

    def collection(self) -> str:
        """Any Collection."""
        return self.one(a_list, several(self.chance.choice((self.record(), TEXT))))

    def note(self, fits: Fits = a_note, make: Thing | None = None) -> str:
        return self.one(fits, make or self.chance.choice((self.record(), TEXT)))

    def path(self, reference: str, want: str | None = None) -> tuple[str, Content]:
        """A path into the items of a Collection, or into a Note; `@id` where nothing is known of it."""
        thing = self.about(reference)
        thing = thing.item if thing.kind == "C" else thing
        found = [(p, c) for p, c in places(thing.content) if want is None or c == want] if thing.kind == "N" else []
        return self.chance.choice(found) if found and self.maybe(0.95) else ("@id", "text")

    # Values

    def value(self, content: Content, deep: int = 0) -> Any:
        """Something that is, or becomes, such a content: a literal, a variable, a place, a template."""
        found = [f"${name}" for name, thing in self.names.items() if thing.kind == "N" and thing.holds == content]
        for name, thing in self.names.items():
            if thing.kind == "N" and isinstance(thing.holds, Mapping):
                found += [f"${name}.{path}" for path, inner in places(thing.holds) if inner == content]
        if found and self.maybe(0.45):
            return self.chance.choice(found)
        if content == "text" and self.maybe(0.3):
            return self.template()
        if content == "list" and deep < 2 and self.maybe(0.4):
            return [self.value(self.chance.choice(("text", "number")), deep + 1) for _ in range(2)]
        if isinstance(content, Mapping) and self.maybe(0.5):
            return {key: self.value(inner, deep + 1) for key, inner in content.items()}
        return literal(content, self.chance)

    def template(self) -> str:
        """Text with references in it."""
        spots = []
        for name, thing in self.names.items():
            spots.append("${" + name + "}")
            if thing.kind == "N" and isinstance(thing.holds, Mapping):
                spots += ["${" + f"{name}.{path}" + "}" for path, _ in places(thing.holds)]
        spot = self.chance.choice(spots) if spots else "${$}{none}"
        return self.chance.choice((f"about {spot}", f"{spot}", f"{spot}\nand {spot}", f"costs $5: {spot}"))
