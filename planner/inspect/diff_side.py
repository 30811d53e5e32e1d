"""One of two runs that are compared: what its steps read and gave, told without the ids that it gave out itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from json import dumps

from infospace.core.errors import NotFound
from infospace.core.ids import ID_IN_TEXT, is_id, kind_of, number_of
from infospace.core.json_types import JSON
from infospace.core.position import top_label
from infospace.core.resources import Collection, Relation, Resource
from infospace.data.result import display_name
from infospace.journal.origin import Product
from infospace.journal.rows import StepRow
from infospace.store.protocol import Snapshot


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a Collection: what it counts as, its id (of a search result its source's), a title for reading."""

    key: str
    id: str = field(compare=False)
    title: str = field(default="", compare=False)


class RunView:
    """A run of a snapshot. Raises NotFound when there is none."""

    def __init__(self, snapshot: Snapshot, run: str) -> None:
        self._snapshot = snapshot
        self.run = snapshot.run(run)
        self._steps = snapshot.steps(run)
        self._versions: dict[str, int] = {}
        self._own: dict[str, str] = {}
        places: dict[str, int] = {}
        for product in sorted(snapshot.products([run]), key=_order):
            self._versions[product.of.id] = product.of.version
            if product.of.version == 1:
                place = f"{kind_of(product.of.id)}~{product.created_by.step or product.created_by.by}"
                places[place] = places.get(place, 0) + 1
                self._own[product.of.id] = f"{place}~{places[place]}"
        self._keys: dict[str, str] = {}
        self._as: dict[str, str] = {}
        self._numbers: dict[str, dict[int, int]] = {}
        if self.run.forked is not None:
            with suppress(NotFound):
                self._inherit_from(RunView(snapshot, self.run.forked))

    def _inherit_from(self, parent: RunView) -> None:
        """Tell what a fork took over as its parent tells it: also the copies of what was changed since."""
        taken_over = {top_label(row.position) for row in self._steps if "forked" in row.extra}
        self.take_inputs_of(parent)
        for identifier, place in parent._own.items():
            if top_label(place.split("~")[1]) in taken_over:
                self._own.setdefault(identifier, place)
        rows = {row.sequence: row for row in parent.steps}
        pairs = [(row, rows[row.sequence]) for row in self._steps if "forked" in row.extra and row.sequence in rows]
        same = [(row.resource, theirs.resource) for row, theirs in pairs]
        same += [(one, parent.run.inputs.get(name)) for name, one in self.run.inputs.items()]
        same += [items for row, theirs in pairs for items in self._items(result_of(row), result_of(theirs))]
        for one, other in same:
            if one is None or other is None or one == other:
                continue
            if other in parent._own:
                self._own[one] = parent._own[other]
            else:
                self._own.pop(one, None)
                self._as[one] = parent._as.get(other, other)
        for row, theirs in pairs:
            if row.resource in self._as and row.version is not None and theirs.version is not None:
                number = parent._number(theirs.resource, theirs.version)
                self._numbers.setdefault(row.resource, {})[row.version] = number

    def take_inputs_of(self, other: RunView) -> None:
        """Count what another run made of its inputs, which this one was given too, as its own."""
        for identifier, place in other._own.items():
            if place.split("~")[1] == "input":
                self._own.setdefault(identifier, place)

    def take_restored(self, versions: Mapping[str, Mapping[int, int]]) -> None:
        """Count versions as the earlier ones that they were made like, and those that come after them on from there."""
        self._numbers.update({identifier: dict(numbers) for identifier, numbers in versions.items()})

    def _items(self, one: tuple[str, int] | None, other: tuple[str, int] | None) -> Iterable[tuple[str, str]]:
        """Return the items of a copy of a Collection with those that they stand for."""
        groups = [self.get(*version) for version in (one, other) if version is not None] if one != other else []
        members = [group.members for group in groups if isinstance(group, Collection)]
        if len(members) < 2 or len(members[0]) != len(members[1]):
            return ()
        return [(mine.id, theirs.id) for mine, theirs in zip(*members, strict=True)]

    def _number(self, identifier: str | None, version: int) -> int:
        """Return which version of the other one a version of a copy is; its own come after that."""
        known = self._numbers.get(identifier or "")
        if not known:
            return version
        last = max(known)
        return known.get(version, known[last] + version - last)

    @property
    def steps(self) -> Sequence[StepRow]:
        """The executions by sequence."""
        return self._steps

    def version(self, identifier: str) -> int:
        """Return the last version that the run made of a resource; of one that it only read, that which it read."""
        result = self._versions.get(identifier)
        if result is not None:
            return result
        read = [use.version for row in self._steps for use in row.uses if use.id == identifier]
        given = [row.version for row in self._steps if row.resource == identifier and row.version is not None]
        return max((*read, *given), default=1)

    def get(self, identifier: str, version: int) -> Resource | None:
        """Return a version of a resource, None when it is lost."""
        try:
            return self._snapshot.get(identifier, version)
        except NotFound:
            return None

    def masked(self, text: str | None) -> str | None:
        """Return a text in which the ids that the run gave out are told by where they were made."""
        places = self._as | self._own
        return None if text is None else ID_IN_TEXT.sub(lambda found: places.get(found[0], found[0]), text)

    def fingerprint(self, value: JSON) -> str | None:
        """Return a digest of a JSON value, its keys in any order, without ids that the run gave out."""
        text = self.masked(dumps(value, ensure_ascii=False, sort_keys=True))
        return sha256((text or "").encode("utf-8", "surrogatepass")).hexdigest()

    def value(self, resource: Resource) -> JSON:
        """Return what a Note or a Relation is."""
        if isinstance(resource, Relation):
            source, target = self._key_of([resource.source, resource.target])
            return {"source": source, "relation": resource.relation, "target": target}
        return resource.content

    def members(self, collection: Collection) -> list[Item]:
        """Return a Collection's items, without their titles."""
        ids = [member.id for member in collection.members]
        counted = self._snapshot.identities(ids)
        return [Item(key, one.partition("[")[0]) for key, one in zip(self._key_of(ids), counted, strict=True)]

    def titled(self, items: Iterable[Item]) -> list[Item]:
        """Return items with their titles, where they have any."""
        return [replace(item, title=self._title(item.id)) for item in items]

    def read(self, row: StepRow) -> list[str]:
        """Return what a step read, by key; what the run did not make, and the source of a search result, by version."""
        keys = self._key_of([use.id for use in row.uses])
        results = [use for use, key in zip(row.uses, keys, strict=True) if use.id in self._own and is_id(key)]
        sources = {origin.of.id: origin.source for origin in self._snapshot.origins(results)}
        versions = [
            source.of.version if (source := sources.get(use.id)) else self._number(use.id, use.version)
            for use in row.uses
        ]
        return sorted(
            key if use.id in self._own and use.id not in sources else f"{key}@{version}"
            for key, use, version in zip(keys, row.uses, versions, strict=True)
        )

    def read_own_results(self, row: StepRow) -> bool:
        """Whether the run itself made something of what a step read."""
        return any(use.id in self._own for use in row.uses)

    def _title(self, identifier: str) -> str:
        resource = self._last(identifier) if is_id(identifier) else None
        return "" if resource is None else display_name(resource)

    def _last(self, identifier: str) -> Resource | None:
        """A resource as the run left it; what it did not make, as it is now, or was last."""
        if identifier in self._versions:
            return self.get(identifier, self._versions[identifier])
        try:
            return self._snapshot.get(identifier)
        except NotFound:
            return self._latest(identifier)

    def _latest(self, identifier: str) -> Resource | None:
        try:
            return self._snapshot.get(identifier, self._snapshot.versions(identifier)[-1][0])
        except NotFound:
            return None

    def _key_of(self, identifiers: Sequence[str]) -> list[str]:
        """What resources count as: search results as their source, what the run made as its content, others as ids."""
        identifiers = [self._as.get(identifier, identifier) for identifier in identifiers]
        unknown = [one for one in dict.fromkeys(identifiers) if one not in self._keys]
        counted = zip(unknown, self._snapshot.identities(unknown), strict=True) if unknown else ()
        for one, identity in counted:
            self._keys[one] = self._key_of_created(one) if identity == one and one in self._own else identity
        return [self._keys[identifier] for identifier in identifiers]

    def _key_of_created(self, identifier: str) -> str:
        resource = self._last(identifier)
        if resource is None:
            return self._own[identifier]
        self._keys[identifier] = self._own[identifier]
        if isinstance(resource, Collection):
            inner: JSON = list(self._key_of([member.id for member in resource.members]))
        else:
            inner = self.value(resource)
        return f"{resource.kind}:{self.fingerprint([inner, dict(resource.metadata)])}"


def result_of(row: StepRow) -> tuple[str, int] | None:
    """Return what a step gave, at its version."""
    return None if row.resource is None else (row.resource, row.version or 1)


def _order(product: Product) -> tuple[int, int]:
    return number_of(product.of.id), product.of.version
