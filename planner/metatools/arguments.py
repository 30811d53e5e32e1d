"""The arguments of the meta-tools: closed and strict, each fault told at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator

from infospace.contract.arguments import Args, JsonSchema, Query
from infospace.tools.scope import NO_FILTERS, Filters
from infospace.tools.search.types import ANY_TYPES, TypeQuery

LONGEST_MS = 600_000
"""Milliseconds that one call of a tool may last at most."""
USUAL_MS = 30_000
MOST_FOUND = 50
MOST_ON_PAGE = 100
MOST_ALIKE = 20

Sorting: TypeAlias = Literal["name", "created_at", "execution_count", "success_rate", "category"]
ToolReference = Annotated[str, Field(min_length=1, description="`server/tool`, or an id such as tool_17.")]

_FILTERS = "Which tools are wanted; they act before the best are taken."
_SCHEMAS = "With the JSON Schemas of each."


class SearchTools(Args):
    """Arguments of `search_tools`."""

    query: Query | None = Field(None, description="What the tool should do, in plain words.")
    filters: Filters = Field(default_factory=Filters, description=_FILTERS)
    limit: int = Field(10, ge=1, le=MOST_FOUND, description="At most this many.")
    include_schemas: bool = Field(default=False, description=_SCHEMAS)
    search_type: Literal["semantic", "keyword", "hybrid"] = Field(
        "hybrid", description="By meaning, by words, or by both."
    )
    include_explanation: bool = Field(default=False, description="With what each score is made of.")
    input: JsonSchema | None = Field(None, description="JSON Schema of an argument, or of several by name.")
    output: JsonSchema | None = Field(None, description="JSON Schema of results.")

    @property
    def types(self) -> TypeQuery:
        """What the tools are to take and to give."""
        return TypeQuery(self.input, self.output)

    @model_validator(mode="after")
    def _asks_for_something(self) -> SearchTools:
        if self.query is None and self.filters == NO_FILTERS and self.types == ANY_TYPES:
            raise ValueError("none of `query`, `filters`, `input` and `output` says which tools are wanted")
        if self.query is None and self.filters.min_score is not None:
            raise ValueError("`filters.min_score` is of a relevance to a `query`, and there is none")
        return self


class ListTools(Args):
    """Arguments of `list_tools`."""

    page: int = Field(1, ge=1, description="Which page, from 1 on.")
    page_size: int = Field(20, ge=1, le=MOST_ON_PAGE, description="Tools on a page.")
    sort_by: Sorting = Field("name", description="What they are sorted by; ties by name.")
    sort_order: Literal["asc", "desc"] = Field("asc", description="What is not known stands last in either.")
    filters: Filters = Field(default_factory=Filters, description="Which tools are wanted; not by `min_score`.")
    include_schemas: bool = Field(default=False, description=_SCHEMAS)


class DescribeTool(Args):
    """Arguments of `describe_tool`."""

    tool_name: ToolReference
    include_examples: bool = Field(default=True, description="With arguments that it may be, or was, called with.")
    include_metrics: bool = Field(default=False, description="With how its calls went.")
    include_similar: bool = Field(default=False, description="With the tools that are most like it.")


class ExecuteOptions(Args):
    """How a tool is called."""

    timeout_ms: int = Field(
        USUAL_MS,
        ge=1,
        le=LONGEST_MS,
        description="Milliseconds that the call may last; else its server's entry or its plan's budget says.",
    )
    include_metadata: bool = Field(default=True, description="With `execution_metadata`.")


def _usual() -> ExecuteOptions:
    return ExecuteOptions(timeout_ms=USUAL_MS, include_metadata=True)


class ExecuteTool(Args):
    """Arguments of `execute_tool`."""

    tool_name: ToolReference
    arguments: dict[str, Any] = Field(description="The tool's own arguments, by its input schema.")
    options: ExecuteOptions = Field(default_factory=_usual, description="How it is called.")

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, actual: Any) -> Any:
        """Take `name`, which a call of a tool has in the protocol, for `tool_name`."""
        if isinstance(actual, dict) and "name" in actual and "tool_name" not in actual:
            return {("tool_name" if key == "name" else key): value for key, value in actual.items()}
        return actual

    @property
    def has_timeout(self) -> bool:
        """Whether whoever calls said how long it may last."""
        return "options" in self.model_fields_set and "timeout_ms" in self.options.model_fields_set


class ManageConnections(Args):
    """Arguments of `manage_connections`."""

    action: Literal["list", "status", "initiate"] = Field(description="All servers, one's state, or connect it.")
    server: str | None = Field(None, description="The server; not for `list`.")

    @model_validator(mode="after")
    def _named(self) -> ManageConnections:
        if (self.server is None) != (self.action == "list"):
            message = f"`{self.action}` " + ("takes no server" if self.action == "list" else "needs a server")
            raise ValueError(message)
        return self


class GetToolCategories(Args):
    """Arguments of `get_tool_categories`."""

    include_tags: bool = Field(default=True, description="With all tags, and how many tools have each.")
    include_servers: bool = Field(default=False, description="With all servers, and how many tools each has.")


class GetSimilarTools(Args):
    """Arguments of `get_similar_tools`."""

    tool_name: ToolReference
    limit: int = Field(5, ge=1, le=MOST_ALIKE, description="At most this many.")
