"""The public doors of `infospace` and `planner`: every name is there, and nothing is loaded before it is asked for."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import infospace
import planner
import primitives


def modules_after(code: str) -> set[str]:
    """The modules that a new interpreter has loaded after running code."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


DOORS = (infospace, planner)


@pytest.mark.parametrize(("door", "name"), [(door, name) for door in DOORS for name in door.__all__])
def test_every_name_is_there_and_is_that_of_its_home(door: ModuleType, name: str) -> None:
    """Also by `import *`, and in `dir`."""
    value = getattr(door, name)
    home = importlib.import_module(f"{door.__name__}.{door._MODULES[name]}")
    assert value is getattr(home, name)
    assert name in dir(door)


@pytest.mark.parametrize("door", DOORS)
def test_type_checkers_see_the_same_names(door: ModuleType) -> None:
    """What is imported for them, each under its own name, is what is resolved at run time, from the same homes."""
    tree = ast.parse(Path(str(door.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: str(node.module).removeprefix(f"{door.__name__}.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert seen == door._MODULES


@pytest.mark.parametrize("door", DOORS)
def test_a_name_that_is_not_there_is_an_attribute_error(door: ModuleType) -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match=f"module '{door.__name__}' has no attribute 'Nothing'"):
        _ = door.Nothing


@pytest.mark.parametrize("page", ["shapes", "values", "prompts", "certificates", "ranking", "tools"])
def test_what_authors_may_use_is_what_its_home_has(page: str) -> None:
    """Each name of `infospace.authoring` stands in `__all__`, and is used by a primitive of ours."""
    module = importlib.import_module(f"infospace.authoring.{page}")
    verbs = "".join(path.read_text(encoding="utf-8") for path in Path(str(primitives.__file__)).parent.glob("*.py"))
    for name in module.__all__:
        assert hasattr(module, name)
        assert re.search(rf"\b{name}\b", verbs), f"no primitive uses {name}"


def test_importing_infospace_alone_loads_nothing_heavy() -> None:
    """A door costs nothing until someone goes through."""
    heavy = {"pydantic", "numpy", "sqlite3", "asyncio", "sqlglot", "onnxruntime", "typing_extensions"}
    assert not heavy & modules_after("import infospace, planner")


def test_declaring_and_listing_primitives_loads_no_engine() -> None:
    """Nor the reader of conditions, nor NumPy."""
    loaded = modules_after("from infospace.contract.catalogue import installed\nassert len(installed().types()) > 10")
    assert "pydantic" in loaded
    assert not {"numpy", "sqlite3", "sqlglot", "jsonschema", "asyncio", "fastembed", "onnxruntime"} & loaded
    assert not {"infospace.expressions", "infospace.store.sqlite"} & loaded
    assert {name for name in loaded if name.startswith("infospace.search.")} == {"infospace.search.proof"}
