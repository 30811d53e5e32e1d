"""infospace: what exists, and what a primitive is. The public door; other packages import only this."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infospace.argument import Aggregate as Aggregate
    from infospace.argument import Args as Args
    from infospace.argument import Items as Items
    from infospace.argument import JsonSchema as JsonSchema
    from infospace.argument import Limit as Limit
    from infospace.argument import Path as Path
    from infospace.argument import PromptName as PromptName
    from infospace.argument import Query as Query
    from infospace.argument import Ref as Ref
    from infospace.argument import ServedResource as ServedResource
    from infospace.argument import Slice as Slice
    from infospace.argument import Text as Text
    from infospace.argument import ToolArguments as ToolArguments
    from infospace.argument import ToolName as ToolName
    from infospace.argument import Value as Value
    from infospace.argument import Where as Where
    from infospace.catalogue import Catalogue as Catalogue
    from infospace.contract import Primitive as Primitive
    from infospace.contract import primitive as primitive
    from infospace.errors import BadAnswer as BadAnswer
    from infospace.errors import BudgetSpent as BudgetSpent
    from infospace.errors import Conflict as Conflict
    from infospace.errors import Declined as Declined
    from infospace.errors import InfospaceError as InfospaceError
    from infospace.errors import Invalid as Invalid
    from infospace.errors import LanguageModelError as LanguageModelError
    from infospace.errors import Missing as Missing
    from infospace.errors import ModelError as ModelError
    from infospace.errors import NotConfigured as NotConfigured
    from infospace.errors import NotFound as NotFound
    from infospace.errors import StoreError as StoreError
    from infospace.errors import Unreachable as Unreachable
    from infospace.errors import Unreadable as Unreadable
    from infospace.errors import Unsupported as Unsupported
    from infospace.errors import WhereInvalid as WhereInvalid
    from infospace.resources import Collection as Collection
    from infospace.resources import Member as Member
    from infospace.resources import Note as Note
    from infospace.resources import Relation as Relation
    from infospace.resources import Resource as Resource
    from infospace.resources import SearchResult as SearchResult
    from infospace.resources import ToolResult as ToolResult
    from infospace.space import Space as Space
    from infospace.space import open_space as open_space
    from infospace.view import Infospace as Infospace

_HOMES = {
    "argument": (
        "Aggregate",
        "Args",
        "Items",
        "JsonSchema",
        "Limit",
        "Path",
        "PromptName",
        "Query",
        "Ref",
        "ServedResource",
        "Slice",
        "Text",
        "ToolArguments",
        "ToolName",
        "Value",
        "Where",
    ),
    "catalogue": ("Catalogue",),
    "errors": (
        "BadAnswer",
        "BudgetSpent",
        "Conflict",
        "Declined",
        "InfospaceError",
        "Invalid",
        "LanguageModelError",
        "Missing",
        "ModelError",
        "NotConfigured",
        "NotFound",
        "StoreError",
        "Unreachable",
        "Unreadable",
        "Unsupported",
        "WhereInvalid",
    ),
    "contract": ("Primitive", "primitive"),
    "resources": ("Collection", "Member", "Note", "Relation", "Resource", "SearchResult", "ToolResult"),
    "space": ("Space", "open_space"),
    "view": ("Infospace",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_MODULES]  # noqa: PLE0604 - the names of _HOMES


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'infospace' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"infospace.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
