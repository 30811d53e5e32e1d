"""A server as a registry lists it: what it is for, the entry of `mcp.json` that connects it, and what that needs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from infospace.store.tool_records import ListedTool

BUNDLE: Final = "mcpb"
"""Stands for the command of a bundle, which only its manifest says."""
ChecksumKind: TypeAlias = Literal["file", "npm"]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment that connecting reads. Its value is never known here."""

    name: str
    description: str = ""
    secret: bool = False

    @property
    def label(self) -> str:
        """Its name, and whether it is a secret."""
        return f"{self.name} (secret)" if self.secret else self.name


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the package of a server has to be, before it is connected.

    `file`: the file at `url` has the SHA-256 `value` (hexadecimal). `npm`: the package's own document at `url` names
    its file, and this has the integrity that it names; `value` is an integrity that is given besides, or empty.
    """

    kind: ChecksumKind
    url: str
    value: str


@dataclass(frozen=True, slots=True)
class ListedServer:
    """A server of a registry. `entry` is what `mcp.json` would have of it, with `${VAR}` for what nobody may know."""

    name: str
    """What the registry calls it, such as `io.github.ann/weather`."""
    description: str
    entry: Mapping[str, Any]
    title: str = ""
    version: str = ""
    tags: tuple[str, ...] = ()
    variables: Sequence[Variable] = ()
    optional: Sequence[Variable] = ()
    """Variables that it also reads, and does without."""
    checksum: Checksum | None = None
    package: str | None = None
    """The identifier of its package, without a version; None where it is behind a URL."""

    @property
    def short(self) -> str:
        """The last part of its name, by which `mcp.json` would name it."""
        return self.name.rpartition("/")[2]

    @property
    def launch(self) -> str:
        """The command line, the URL, or the address of its bundle."""
        if "url" in self.entry:
            return str(self.entry["url"])
        if self.entry["command"] == BUNDLE:
            return str(self.entry["args"][0])
        return shlex.join([str(self.entry["command"]), *map(str, self.entry.get("args", ()))])

    def connects_as(self, launches: set[str]) -> bool:
        """Whether one of the URLs and arguments of `mcp.json` is this server, in whatever version."""
        if "url" in self.entry:
            return self.entry["url"] in launches
        package = self.package
        return package is not None and any(
            launch == package or launch.startswith((f"{package}@", f"{package}:", f"{package}=")) for launch in launches
        )

    def as_tool(self) -> ListedTool:
        """Return it as the space keeps it: as what a registry lists."""
        details: dict[str, Any] = {
            "entry": dict(self.entry),
            "version": self.version,
            "variables": [[variable.name, variable.description, variable.secret] for variable in self.variables],
            "optional": [[variable.name, variable.description, variable.secret] for variable in self.optional],
        }
        if self.package is not None:
            details["package"] = self.package
        if self.checksum is not None:
            details["checksum"] = [self.checksum.kind, self.checksum.url, self.checksum.value]
        return ListedTool(
            self.name, "server", self.title, self.description, tags=self.tags, read_only=True, details=details
        )

    @classmethod
    def from_tool(cls, listed: ListedTool) -> ListedServer:
        """Return what was kept."""
        kept: Mapping[str, Any] = listed.details
        checksum = kept.get("checksum")
        return cls(
            listed.name,
            listed.description,
            kept["entry"],
            listed.title,
            kept["version"],
            listed.tags,
            tuple(Variable(*one) for one in kept["variables"]),
            tuple(Variable(*one) for one in kept["optional"]),
            None if checksum is None else Checksum(*checksum),
            kept.get("package"),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as the commands print it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "version": self.version,
            "entry": dict(self.entry),
            "variables": [
                {"name": variable.name, "description": variable.description, "secret": variable.secret}
                for variable in self.variables
            ],
            "optional": [
                {"name": variable.name, "description": variable.description, "secret": variable.secret}
                for variable in self.optional
            ],
            "checksum": None if self.checksum is None else self.checksum.kind,
        }
