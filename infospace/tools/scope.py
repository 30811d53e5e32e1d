"""Which tools a caller may know of, and which of them are wanted."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

from infospace.core.errors import Invalid
from infospace.core.regex import compile_pattern
from infospace.core.tool import Tool


def _pattern(text: str) -> str:
    try:
        compile_pattern(text)
    except Invalid as error:
        raise PydanticCustomError(error.kind, "{message}", {"message": error.message, "hint": error.hint}) from error
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]
"""A pattern in RE2's syntax, found anywhere in a tool's name or full name unless it is anchored."""

Patterns = Annotated[tuple[Pattern, ...], Strict(False)]
Names = Annotated[tuple[str, ...], Strict(False)]


class Limits(BaseModel):
    """What scopes and filters are made of: JSON, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Bounds(Limits):
    """What a scope is written as. What is None does not limit.

    `include_*` name what a tool needs one of, `exclude_*` what it must have none of. A tag that only a server which is
    not trusted gives its tool excludes, and does not include. Raises a ValidationError of pydantic for what does not
    fit.
    """

    include_tags: Names | None = None
    exclude_tags: Names = ()
    include_servers: Names | None = None
    exclude_servers: Names = ()
    include_names: Patterns | None = None
    exclude_names: Patterns = ()
    visibility: Names | None = None
    teams: Names | None = None
    """Teams whose tools may be known; a tool of no team is everyone's."""


class Scope(Bounds):
    """What a caller may know of. A tool that is out of scope is as if it did not exist."""

    also: tuple[Scope, ...] = ()
    """Scopes in which a tool has to be as well."""

    def allows(self, tool: Tool) -> bool:
        """Whether a tool is in this scope."""
        return (
            (
                self.include_tags is None
                or any(tag in tool.tags and tag not in tool.claimed for tag in self.include_tags)
            )
            and _are_disjoint(tool.tags, self.exclude_tags)
            and (self.include_servers is None or tool.server in self.include_servers)
            and tool.server not in self.exclude_servers
            and (self.include_names is None or any(fits(tool, pattern) for pattern in self.include_names))
            and not any(fits(tool, pattern) for pattern in self.exclude_names)
            and (self.visibility is None or tool.visibility in self.visibility)
            and (self.teams is None or not tool.team or tool.team in self.teams)
            and all(scope.allows(tool) for scope in self.also)
        )

    def forbids(self, tool: Tool) -> bool:
        """Whether a tool is excluded, whatever is included."""
        return (
            not _are_disjoint(tool.tags, self.exclude_tags)
            or tool.server in self.exclude_servers
            or any(fits(tool, pattern) for pattern in self.exclude_names)
            or any(scope.forbids(tool) for scope in self.also)
        )

    def intersect(self, by: Scope) -> Scope:
        """Return the scope of what is in both: whoever narrows can take away, and not add."""
        if EVERYTHING in (self, by):
            return by if self == EVERYTHING else self
        return self.model_copy(update={"also": (*self.also, by)})


class Filters(Limits):
    """Which tools are wanted; they act before the best are taken. What is None, or empty, does not limit.

    `tags`, `servers`, `categories` (in any case), `visibility` and `teams` name what a tool has one of, `exclude_tags`
    what it has none of.
    """

    tags: Names = Field(default=(), description="Any of these.")
    exclude_tags: Names = Field(default=(), description="None of these.")
    servers: Names = ()
    categories: Names = ()
    integration_type: Literal["REST", "MCP", "any"] = "any"
    name_pattern: Pattern | None = Field(default=None, description="RE2, found anywhere in the name.")
    description_contains: str | None = Field(default=None, description="In any case.")
    min_score: float | None = Field(default=None, ge=0, le=1, description="Relevance before boosts.")
    has_examples: bool | None = None
    visibility: Names = ()
    teams: Names = ()

    def admits(self, tool: Tool, called: Container[str] = ()) -> bool:
        """Whether a tool is wanted, its score apart. Those of `called`, by full name, have examples of their calls."""
        return (
            (not self.tags or not _are_disjoint(tool.tags, self.tags))
            and _are_disjoint(tool.tags, self.exclude_tags)
            and (not self.servers or tool.server in self.servers)
            and (not self.categories or tool.category.casefold() in {name.casefold() for name in self.categories})
            and (self.integration_type in ("any", tool.integration))
            and (self.name_pattern is None or fits(tool, self.name_pattern))
            and (not self.description_contains or self.description_contains.casefold() in tool.description.casefold())
            and (self.has_examples is None or self.has_examples == (bool(tool.examples) or tool.full_name in called))
            and (not self.visibility or tool.visibility in self.visibility)
            and (not self.teams or tool.team in self.teams)
        )


def fits(tool: Tool, pattern: str) -> bool:
    """Whether a pattern is found in a tool's name or full name."""
    value = compile_pattern(pattern).search
    return value(tool.name) is not None or value(tool.full_name) is not None


def _are_disjoint(tags: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return not others or set(tags).isdisjoint(others)


EVERYTHING = Scope()
NO_FILTERS = Filters()
