"""All that can be done: entries by type, taken from providers."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from infospace.core.errors import Conflict, InfospaceError, NotFound
from infospace.data.paths import did_you_mean, nearest_names

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from infospace.contract.decorator import Primitive
    from infospace.tools.builtin import Listing
    from infospace.tools.toolbox import Toolbox

_log = logging.getLogger(__name__)

OURS = "infospace"
GROUP = "infospace.primitives"
"""The entry point group in which packages offer their primitives."""


class Provider(Protocol):
    """Something that offers entries: list them, describe one."""

    @property
    def name(self) -> str:
        """Where the entries come from, for people."""

    def types(self) -> Iterable[str]:
        """Return the step types on offer."""

    def describe(self, type_: str) -> Primitive:
        """Return the entry of a type that `types` gave."""


class PackageProvider:
    """The primitives of a Python package: every `Primitive` in its module and the modules under it."""

    def __init__(self, name: str, module: ModuleType) -> None:
        self.name = name
        self._module = module

    @cached_property
    def _entries(self) -> Mapping[str, Primitive]:
        from infospace.contract.decorator import Primitive

        results: dict[str, Primitive] = {}
        for module in _modules(self._module):
            for value in vars(module).values():
                if not isinstance(value, Primitive) or results.get(value.type) is value:
                    continue
                if value.type in results:
                    first, second = results[value.type].call.__module__, value.call.__module__
                    raise Conflict(
                        f"{self.name!r} declares the primitive {value.type!r} twice, in {first} and in {second}",
                        hint="a primitive's type is its function's name; give one of them another",
                    )
                results[value.type] = value
        return {type_: self._own(entry) for type_, entry in results.items()}

    def _own(self, entry: Primitive) -> Primitive:
        """Return an entry that names this provider: the same object where it does already, which keeps its schema."""
        return entry if entry.provider == self.name else replace(entry, provider=self.name)

    def types(self) -> Iterable[str]:
        """Return the step types of the package."""
        return self._entries

    def describe(self, type_: str) -> Primitive:
        """Return one of its primitives."""
        return self._entries[type_]


def _modules(module: ModuleType) -> Iterator[ModuleType]:
    yield module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield importlib.import_module(f"{module.__name__}.{info.name}")


class Catalogue:
    """Entries by type. Two providers that offer one type are a Conflict that names both."""

    def __init__(self, providers: Iterable[Provider] = ()) -> None:
        from infospace.tools.toolbox import Toolbox

        self.tools = Toolbox()
        """What can be called outside; a space puts its own here."""
        self.why_unasked: Callable[[], InfospaceError | None] = lambda: None
        """Says why no language model can be asked, None where one can; a space puts its own word here."""
        self.listings: dict[str, Listing] = {}
        """What can be done besides, by who lists it: saved plans, which only a planner knows."""
        self.broken: list[InfospaceError] = []
        """Why a package that is installed offers nothing here, each in a sentence."""
        self._entries: dict[str, tuple[Provider, Primitive]] = {}
        for provider in providers:
            self.add(provider)

    def add(self, provider: Provider) -> None:
        """Take a provider's entries in: all, or with a Conflict none."""
        fresh = {}
        for type_ in provider.types():
            entry = provider.describe(type_)
            if type_ not in self._entries:
                fresh[type_] = (provider, entry)
                continue
            first, known = self._entries[type_]
            if known.call is not entry.call:
                raise Conflict(
                    f"{type_!r} is offered by both {first.name!r} and {provider.name!r}", hint="uninstall one of them"
                )
        self._entries |= fresh

    def scoped(self, tools: Toolbox) -> Catalogue:
        """Return the same entries beside fewer tools, without those that the scope of the tools excludes."""
        catalogue = Catalogue()
        catalogue.tools, catalogue.why_unasked, catalogue.listings = tools, self.why_unasked, self.listings
        catalogue.broken = self.broken
        catalogue._entries = {
            type_: known for type_, known in self._entries.items() if not tools.scope.forbids(known[1].as_tool)
        }
        return catalogue

    def find(self, type_: str) -> Primitive | None:
        """Return the entry of a type, or None."""
        results = self._entries.get(type_)
        return results[1] if results else None

    def find_alias(self, type_: str) -> Primitive | None:
        """Return the entry that plans for earlier runtimes call so, None when there is none."""
        return next((entry for entry in self if type_ in entry.formerly), None)

    def get(self, type_: str) -> Primitive:
        """Return the entry of a type; NotFound says which is nearest."""
        result = self.find(type_)
        if result is None:
            hint = did_you_mean(type_, self._entries, self.nearest_types(type_))
            raise NotFound(f"there is no primitive {type_!r}", hint=hint)
        return result

    def nearest_types(self, type_: str, more: Iterable[str] = ()) -> str:
        """Return the sentence for a type that is like none: which are the nearest, and where all are listed."""
        names = ", ".join(map(repr, nearest_names(type_, [*self._entries, *more])))
        return f"the nearest are {names}; `infospace primitives` lists all"

    def types(self) -> list[str]:
        """Return all types, sorted."""
        return sorted(self._entries)

    def __iter__(self) -> Iterator[Primitive]:
        return (self._entries[type_][1] for type_ in self.types())


def installed() -> Catalogue:
    """Return the catalogue of every installed package that offers primitives, ours first.

    One of somebody else's that cannot be loaded is left out: it is warned of, once, and told by `broken`. Raises
    InfospaceError where ours cannot be loaded, Conflict where two offer one type.
    """
    catalogue = Catalogue()
    for point in _points(tuple(sys.path)):
        try:
            provider = _load(point)
        except Conflict:
            raise
        except InfospaceError as error:
            if point.name == OURS:
                raise
            catalogue.broken.append(error)
            _warn_once(str(error))
        else:
            catalogue.add(provider)
    return catalogue


@cache
def _points(path: tuple[str, ...]) -> list[EntryPoint]:
    """What the packages on a path offer. Read once: that takes longer than all else that opening a space does."""
    del path
    from importlib.metadata import entry_points

    return sorted(set(entry_points(group=GROUP)), key=lambda point: (point.name != OURS, point.name))


@cache
def _warn_once(message: str) -> None:
    _log.warning("%s", message)


def _load(point: EntryPoint) -> Provider:
    try:
        module = _module(point)
        provider = _ours(module) if point.name == OURS else PackageProvider(point.name, module)
        provider.types()
    except InfospaceError:
        raise
    except Exception as error:
        distribution = point.dist.name if point.dist else "an unknown package"
        raise InfospaceError(
            f"the primitives {point.name!r} of {distribution} cannot be loaded: {type(error).__name__}: {error}",
            hint=f"update or uninstall {distribution}",
        ) from error
    return provider


@cache
def _ours(module: ModuleType) -> PackageProvider:
    """Return our primitives. They are looked for once: that takes a third of the time of opening a space.

    A package of somebody else is looked through each time, since who writes one loads it anew.
    """
    return PackageProvider(OURS, module)


def _module(point: EntryPoint) -> ModuleType:
    value = point.load()
    if not isinstance(value, ModuleType):
        raise TypeError(f"the entry point {point.value!r} is not a module")
    return value
