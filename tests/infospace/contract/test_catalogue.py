"""The catalogue takes entries from providers, and says which of them is at fault."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infospace import Catalogue, Conflict, NotFound, Space
from infospace.contract.catalogue import PackageProvider, _warn_once, installed

VERB = '''"""A verb."""
from pydantic import Field
from infospace import Args, Context, Note, primitive

class {upper}(Args):
    """Arguments."""
    text: str = Field(description="Words.")

@primitive(effect="pure", examples=[{{"type": "{name}", "text": "a"}}], avoid=["Nothing."])
async def {name}(args: {upper}, context: Context) -> Note[str]:
    """Make it {name}."""
    return context.note(args.text.upper())
'''

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Lay a distribution with an entry point on the path, as an installer does."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def install(name: str, files: dict[str, str], target: str | None = None) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[infospace.primitives]\n{name} = {target or name}\n")
        for path, text in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        importlib.invalidate_caches()

    yield install
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def verb(name: str) -> str:
    """The source of a primitive of this name."""
    return VERB.format(name=name, upper=name.title())


def test_an_installed_package_adds_its_verbs(install: Install) -> None:
    """One file a verb, found by listing the folder; the contract says whose it is."""
    install("loud_verbs", {"__init__.py": "", "shout.py": verb("shout"), "call.py": verb("call")})
    catalogue = installed()
    assert {"shout", "call", "create-note"} <= set(catalogue.types())
    assert catalogue.get("shout").provider == "loud_verbs"
    assert catalogue.get("create-note").provider == "infospace"


def test_a_plan_uses_an_installed_verb(install: Install, space: Space) -> None:
    """The interpreter knows no verb by name, and so knows this one."""
    from planner.execute.start import run_sync

    install("loud_verbs", {"__init__.py": "", "shout.py": verb("shout")})
    result = run_sync(space, {"steps": [{"type": "shout", "text": "hello", "out": "$x"}]})
    assert result.result is not None
    assert (result.status, result.result.data) == ("success", "HELLO")


def test_a_single_module_can_be_a_package_of_verbs(install: Install) -> None:
    """The entry point names a module; a file is enough."""
    install("loud_verbs", {"__init__.py": "", "verbs.py": verb("shout")}, "loud_verbs.verbs")
    assert "shout" in installed().types()


def test_two_providers_of_one_type_are_both_named(install: Install) -> None:
    """Neither is preferred."""
    install("loud_verbs", {"__init__.py": verb("size")})
    with pytest.raises(Conflict, match="'size' is offered by both 'infospace' and 'loud_verbs'"):
        installed()


def test_a_verb_that_a_package_only_imports_is_no_clash(install: Install) -> None:
    """It is the same one."""
    install("loud_verbs", {"__init__.py": "from primitives.size import size\n" + verb("shout")})
    assert installed().get("size").provider == "infospace"


def test_a_package_that_declares_a_type_twice_is_told_where(install: Install) -> None:
    """Both modules are named."""
    install("loud_verbs", {"__init__.py": "", "one.py": verb("shout"), "two.py": verb("shout")})
    with pytest.raises(Conflict, match=r"'shout' twice, in loud_verbs\.one and in loud_verbs\.two"):
        installed()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import surely_not_there\n", "ModuleNotFoundError: No module named 'surely_not_there'"),
        ("def broken(:\n", "SyntaxError"),
        ("1 / 0\n", "ZeroDivisionError"),
        (verb("shout").replace("async def", "def"), "TypeError: primitive 'shout': shout is not an `async def`"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named_and_the_rest_works(
    install: Install, text: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With what went wrong in it, and what to do; it is warned of once."""
    install("loud_verbs", {"__init__.py": "", "broken.py": text})
    _warn_once.cache_clear()
    found = installed()
    assert "create-note" in found.types()
    assert installed().types() == found.types()
    (error,) = found.broken
    assert error.message.startswith("the primitives 'loud_verbs' of loud_verbs cannot be loaded: ")
    assert message in error.message
    assert error.hint == "update or uninstall loud_verbs"
    assert [record.getMessage() for record in caplog.records] == [str(error)]


def test_an_entry_point_that_names_no_module_is_told(install: Install) -> None:
    """An object in a module is not a package of verbs."""
    install("loud_verbs", {"__init__.py": verb("shout")}, "loud_verbs:shout")
    (error,) = installed().broken
    assert "the entry point 'loud_verbs:shout' is not a module" in error.message


def test_what_is_not_there_is_not_found_with_the_nearest() -> None:
    """Or, where none is near, with the three least unlike it, and where all are listed."""
    with pytest.raises(NotFound, match="did you mean 'discover-notes'"):
        installed().get("discover-note")
    with pytest.raises(NotFound, match=r"the nearest are '.*', '.*', '.*'; `infospace primitives` lists all"):
        installed().get("zzzzz")
    assert installed().find("zzzzz") is None


def test_a_clash_leaves_the_catalogue_as_it_was(install: Install) -> None:
    """All of a provider's entries come in, or none."""
    install("loud_verbs", {"__init__.py": "", "shout.py": verb("shout"), "size.py": verb("size")})
    package = PackageProvider("loud_verbs", importlib.import_module("loud_verbs"))
    import primitives

    catalogue = Catalogue([PackageProvider("infospace", primitives)])
    before = catalogue.types()
    with pytest.raises(Conflict, match="is offered by both"):
        catalogue.add(package)
    assert catalogue.types() == before
    assert [entry.type for entry in catalogue] == before
