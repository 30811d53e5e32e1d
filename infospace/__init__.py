"""infospace: what exists, and what a primitive is. The public door; other packages import only this."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infospace.context.context import Context as Context
    from infospace.contract.arguments import Aggregate as Aggregate
    from infospace.contract.arguments import Args as Args
    from infospace.contract.arguments import Expression as Expression
    from infospace.contract.arguments import Formulas as Formulas
    from infospace.contract.arguments import ItemExpression as ItemExpression
    from infospace.contract.arguments import Items as Items
    from infospace.contract.arguments import JsonSchema as JsonSchema
    from infospace.contract.arguments import Limit as Limit
    from infospace.contract.arguments import Path as Path
    from infospace.contract.arguments import PathOrExpression as PathOrExpression
    from infospace.contract.arguments import PromptName as PromptName
    from infospace.contract.arguments import Query as Query
    from infospace.contract.arguments import Ref as Ref
    from infospace.contract.arguments import ServedResource as ServedResource
    from infospace.contract.arguments import Slice as Slice
    from infospace.contract.arguments import SortKey as SortKey
    from infospace.contract.arguments import SortKeys as SortKeys
    from infospace.contract.arguments import Sql as Sql
    from infospace.contract.arguments import Text as Text
    from infospace.contract.arguments import TitledRef as TitledRef
    from infospace.contract.arguments import ToolArguments as ToolArguments
    from infospace.contract.arguments import ToolName as ToolName
    from infospace.contract.arguments import Value as Value
    from infospace.contract.arguments import Where as Where
    from infospace.contract.catalogue import Catalogue as Catalogue
    from infospace.contract.decorator import Primitive as Primitive
    from infospace.contract.decorator import primitive as primitive
    from infospace.core.errors import BadResponse as BadResponse
    from infospace.core.errors import BudgetExceeded as BudgetExceeded
    from infospace.core.errors import Conflict as Conflict
    from infospace.core.errors import ExpressionInvalid as ExpressionInvalid
    from infospace.core.errors import InfospaceError as InfospaceError
    from infospace.core.errors import Invalid as Invalid
    from infospace.core.errors import InvalidJSON as InvalidJSON
    from infospace.core.errors import LanguageModelError as LanguageModelError
    from infospace.core.errors import ModelError as ModelError
    from infospace.core.errors import NotConfigured as NotConfigured
    from infospace.core.errors import NotFound as NotFound
    from infospace.core.errors import PathNotFound as PathNotFound
    from infospace.core.errors import RequestRejected as RequestRejected
    from infospace.core.errors import StoreError as StoreError
    from infospace.core.errors import Unreachable as Unreachable
    from infospace.core.errors import Unsupported as Unsupported
    from infospace.core.errors import WhereInvalid as WhereInvalid
    from infospace.core.resources import Collection as Collection
    from infospace.core.resources import Member as Member
    from infospace.core.resources import Note as Note
    from infospace.core.resources import Relation as Relation
    from infospace.core.resources import Resource as Resource
    from infospace.core.resources import SearchResult as SearchResult
    from infospace.core.resources import ToolResult as ToolResult
    from infospace.space import Space as Space
    from infospace.space import open_space as open_space

_HOMES = {
    "contract.arguments": (
        "Aggregate",
        "Args",
        "Expression",
        "Formulas",
        "ItemExpression",
        "Items",
        "JsonSchema",
        "Limit",
        "Path",
        "PromptName",
        "PathOrExpression",
        "Query",
        "Ref",
        "ServedResource",
        "Slice",
        "SortKey",
        "SortKeys",
        "Sql",
        "Text",
        "TitledRef",
        "ToolArguments",
        "ToolName",
        "Value",
        "Where",
    ),
    "contract.catalogue": ("Catalogue",),
    "core.errors": (
        "BadResponse",
        "BudgetExceeded",
        "Conflict",
        "ExpressionInvalid",
        "RequestRejected",
        "InfospaceError",
        "Invalid",
        "LanguageModelError",
        "PathNotFound",
        "ModelError",
        "NotConfigured",
        "NotFound",
        "StoreError",
        "Unreachable",
        "InvalidJSON",
        "Unsupported",
        "WhereInvalid",
    ),
    "contract.decorator": ("Primitive", "primitive"),
    "core.resources": ("Collection", "Member", "Note", "Relation", "Resource", "SearchResult", "ToolResult"),
    "space": ("Space", "open_space"),
    "context.context": ("Context",),
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
