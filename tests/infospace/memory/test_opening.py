"""Which store an address is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from infospace import open_space
from infospace.core.errors import StoreError
from infospace.core.ids import Kind

PACKAGE = """
from infospace.store.sqlite import open_store as open_file

def open_store(address, *, create):
    return open_file(address.removeprefix("made://"), create=create)
"""


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package is installed that knows `made://` addresses."""
    (tmp_path / "made_store.py").write_text(PACKAGE)
    (tmp_path / "made_store-1.dist-info").mkdir()
    (tmp_path / "made_store-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: made-store\nVersion: 1\n"
    )
    (tmp_path / "made_store-1.dist-info" / "entry_points.txt").write_text(
        "[infospace.stores]\nmade = made_store:open_store\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("_installed")
def test_a_package_opens_the_addresses_of_its_scheme(tmp_path: Path) -> None:
    """With the address as it was given; the space is used like any other."""
    with open_space(f"made://{tmp_path}/space") as space:
        assert space.store.new_id(Kind.NOTE) == "Note_1"
    with open_space(tmp_path / "space", create=False) as space:
        assert space.store.writable


def test_an_unknown_scheme_is_an_error_that_shows_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not taken for a folder's name."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=r"no store .* opens mysql:// addresses") as raised:
        open_space("mysql://me:secret@host/space")
    assert "secret" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_path_is_a_file_whatever_is_in_it(tmp_path: Path) -> None:
    """Only a text can be an address with a scheme."""
    with open_space(tmp_path / "a:b") as space:
        assert space.store.writable
    assert (tmp_path / "a:b").is_file()


@pytest.mark.parametrize("scheme", ["pytest", "unheard"])
def test_an_address_that_nothing_installed_opens_is_told_with_what_would(scheme: str) -> None:
    """Also where a package has a command of that name: only an entry point of stores counts."""
    with pytest.raises(StoreError, match=f"no store that is installed here opens {scheme}:// addresses") as refused:
        open_space(f"{scheme}://x")
    assert f"install a package that brings {scheme!r} under the entry point `infospace.stores`" in str(
        refused.value.hint
    )
