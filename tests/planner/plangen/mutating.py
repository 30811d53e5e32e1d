"""How mistakes are put into correct plans, one each, from a seed: the plan, and where the check should see it."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from infospace.contract.catalogue import installed
from infospace.contract.decorator import Primitive

CATALOGUE = installed()
NAME = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
BLOCKS = ("then", "else", "do", "body", "on_fail")


@dataclass(frozen=True)
class Mistake:
    """A wrong plan, and the pointers at one of which a problem must stand."""

    plan: Any
    pointers: tuple[str, ...]


def steps_of(plan: Any) -> list[tuple[str, dict[str, Any]]]:
    """Every step with its pointer, in document order."""
    key = next((key for key in ("steps", "plan") if isinstance(plan, dict) and key in plan), None)
    return list(_walk(plan if key is None else plan[key], "" if key is None else f"/{key}"))


def _walk(block: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, step in enumerate(block):
        place = f"{pointer}/{index}"
        yield place, step
        for key in BLOCKS:
            if isinstance(step.get(key), list):
                yield from _walk(step[key], f"{place}/{key}")
        for number, branch in enumerate(step.get("branches", [])):
            yield from _walk(branch, f"{place}/branches/{number}")


def entry_of(step: dict[str, Any]) -> Primitive | None:
    return CATALOGUE.find(step.get("type", ""))


def typo(word: str, chance: random.Random) -> str:
    """Leave a letter out, or put one in where there are few."""
    at = chance.randrange(1, len(word)) if len(word) > 2 else len(word)
    return word[:at] + word[at + 1 :] if len(word) > 4 else f"{word[:at]}q{word[at:]}"


Mutate = Callable[[Any, random.Random], Iterator[tuple[Callable[[Any], None], tuple[str, ...]]]]
MUTATIONS: dict[str, Mutate] = {}


def mutation(function: Mutate) -> Mutate:
    """Register a kind of mistake: it offers changes to a plan, each with the pointers where it should be seen."""
    MUTATIONS[function.__name__] = function
    return function


def mistakes(kind: str, plans: dict[str, Any], seed: int, count: int) -> list[Mistake]:
    """Return at most so many mistakes of a kind, spread over the plans."""
    chance = random.Random(f"{kind} {seed}")  # noqa: S311 - not for secrets
    found: list[Mistake] = []
    for name in chance.sample(sorted(plans), len(plans)):
        offers = list(MUTATIONS[kind](plans[name], chance))
        if not offers:
            continue
        change, pointers = chance.choice(offers)
        wrong = copy.deepcopy(plans[name])
        change(wrong)
        found.append(Mistake(wrong, pointers))
        if len(found) == count:
            break
    return found


def at(plan: Any, pointer: str) -> Any:
    """What stands at a pointer."""
    for part in pointer.split("/")[1:]:
        plan = plan[int(part)] if isinstance(plan, list) else plan[part]
    return plan


def put(pointer: str, key: str, value: Any) -> Callable[[Any], None]:
    def change(plan: Any) -> None:
        at(plan, pointer)[key] = value

    return change


def drop(pointer: str, key: str) -> Callable[[Any], None]:
    def change(plan: Any) -> None:
        del at(plan, pointer)[key]

    return change


def renamed(pointer: str, old: str, new: str) -> Callable[[Any], None]:
    def change(plan: Any) -> None:
        step = at(plan, pointer)
        items = [(new if key == old else key, value) for key, value in step.items()]
        step.clear()
        step.update(items)

    return change


def arguments(step: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The arguments of a primitive's step: name, what is written, and its declaration."""
    entry = entry_of(step)
    if entry is not None:
        for name, argument in entry.arguments.items():
            if name in step:
                yield name, step[name], argument
