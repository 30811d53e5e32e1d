"""The public door: every name is there, and nothing is loaded before it is asked for."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import infospace


def modules_after(code: str) -> set[str]:
    """The modules that a new interpreter has loaded after running code."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


@pytest.mark.parametrize("name", infospace.__all__)
def test_every_name_is_there_and_is_that_of_its_home(name: str) -> None:
    """Also by `import *`, and in `dir`."""
    value = getattr(infospace, name)
    home = importlib.import_module(f"infospace.{infospace._MODULES[name]}")
    assert value is getattr(home, name)
    assert name in dir(infospace)


def test_type_checkers_see_the_same_names() -> None:
    """What is imported for them, each under its own name, is what is resolved at run time, from the same homes."""
    tree = ast.parse(Path(infospace.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: str(node.module).removeprefix("infospace.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert seen == infospace._MODULES


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="module 'infospace' has no attribute 'Nothing'"):
        _ = infospace.Nothing


def test_importing_infospace_alone_loads_nothing_heavy() -> None:
    """A door costs nothing until someone goes through."""
    heavy = {"pydantic", "numpy", "sqlite3", "asyncio", "sqlglot", "onnxruntime", "typing_extensions"}
    assert not heavy & modules_after("import infospace")


def test_declaring_and_listing_primitives_loads_no_engine() -> None:
    """Nor the reader of conditions, nor NumPy."""
    loaded = modules_after("from infospace.contract.catalogue import installed\nassert len(installed().types()) > 10")
    assert "pydantic" in loaded
    assert not {"numpy", "sqlite3", "sqlglot", "jsonschema", "asyncio", "fastembed", "onnxruntime"} & loaded
    assert not {"infospace.where", "infospace.store.sqlite"} & loaded
    assert {name for name in loaded if name.startswith("infospace.search.")} == {"infospace.search.proof"}
