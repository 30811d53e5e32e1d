"""Installed as people install it, into an environment and a home of its own: the wheel, by pip, uv and pipx.

The caches of pip and uv are those of whoever runs the tests; all else of the home is empty.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

sys.path.insert(0, str(Path(__file__).parents[2]))
from at_terminal import program_at_terminal

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[4]
BIN = Path(sys.executable).parent
NOTES = {
    "sea.md": "---\nkind: place\n---\n# The sea\nWaves and salt as far as one sees. Ships pass [[moon]].\n",
    "moon.md": "# The moon\nIt draws the tides after it.\n",
}
OTHER = ("INFOSPACE_", "XDG_", "PYTHON", "UV_TOOL", "PIPX_")
"""Variables of who runs the tests that would lead out of the new home."""


@dataclass(frozen=True)
class Installed:
    """An installation: the command, and the home of whoever installed it."""

    command: Path
    home: Path

    def __call__(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Call the command in the home, and see that it ends with this code and no traceback."""
        done = run([str(self.command), *words], self.home)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done


def environment(home: Path) -> dict[str, str]:
    """The environment of a home in which nothing was set up, with the caches that packages come from."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OTHER)}
    pins = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "UV_CONSTRAINT": str(ROOT / "constraints.txt")}
    path = f"{home / '.local/bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    return kept | caches() | pins | {"HOME": str(home), "PATH": path, "NO_COLOR": "1", "COLUMNS": "200"}


@cache
def caches() -> dict[str, str]:
    """The folders of packages that were fetched before."""
    return {
        "PIP_CACHE_DIR": said([str(BIN / "pip"), "cache", "dir"]),
        "UV_CACHE_DIR": said([str(BIN / "uv"), "cache", "dir"]),
    }


def said(words: Sequence[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def run(words: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=home, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def done_well(words: Sequence[str], home: Path) -> None:
    done = run(words, home)
    assert done.returncode == 0, (words, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    done_well([*build, "--wheel-dir", str(folder), str(ROOT)], tmp_path_factory.mktemp("home"))
    [built] = folder.glob("*.whl")
    return str(built)


def new_home(parent: Path) -> Path:
    home = parent / "home"
    (home / "notes").mkdir(parents=True)
    for file, text in NOTES.items():
        (home / "notes" / file).write_text(text)
    return home


@pytest.mark.parametrize("tool", ["pip", "uv", "pipx"])
def test_installed_as_people_do_all_works_at_first_try(wheel: str, tmp_path: Path, tool: str) -> None:
    """Of environments that uv makes, some of them for pipx, it is special that they have no pip to fetch a model.

    One test a tool, and not one a command: an installation takes long.
    """
    home = new_home(tmp_path)
    if tool == "pip":
        venv.create(home / "env", with_pip=True)
        pip = [str(home / "env/bin/python"), "-m", "pip", "install", "--quiet", "--no-compile"]
        done_well([*pip, wheel], home)
        installed = Installed(home / "env/bin/infospace", home)
    else:
        done_well(["uv", "tool", "install", wheel] if tool == "uv" else ["pipx", "install", wheel], home)
        installed = Installed(home / ".local/bin/infospace", home)
    adds_and_finds(installed, "(uv|pip)" if tool == "pipx" else tool)
    if tool == "pip":
        runs_its_demo(installed)
        opens_and_closes_its_screen(installed)
        answers_a_client(installed)
        finds_nothing_wrong_with_itself(installed)
        keeps_nothing_that_is_used_once(installed)
    reads_a_pdf_as_advised(installed)


def adds_and_finds(installed: Installed, tool: str) -> None:
    """The model is fetched by the first call that needs it, which says so first; the second finds it there."""
    added = installed("add", "notes")
    assert added.stdout.startswith("2 added (2 passages embedded")
    announced = r"downloading the embedding model \S+ \(90 MB, once\): \S+ \S+ by "
    assert re.match(announced + tool, added.stderr), added.stderr
    again = installed("search", "what draws the tides", "--limit", "1", "--json")
    assert "downloading" not in again.stderr
    assert json.loads(again.stdout)["data"][0]["metadata"]["title"] == "The moon"


def runs_its_demo(installed: Installed) -> None:
    result = json.loads(installed("demo", "--json").stdout)
    assert (result["status"], [step["status"] for step in result["steps"]]) == ("success", ["success"] * 5)


def opens_and_closes_its_screen(installed: Installed) -> None:
    size = {"LINES": "30", "COLUMNS": "100", "TERM": "xterm-256color"}
    with program_at_terminal([str(installed.command), "tui"], environment(installed.home) | size) as opened:
        opened.until("add notes")
        opened.types_raw(b"\x11")  # Ctrl-Q
        assert opened.ended() == 0
    assert "Traceback" not in opened.seen


def answers_a_client(installed: Installed) -> None:
    env = environment(installed.home)
    server = StdioServerParameters(command=str(installed.command), args=["serve"], env=env)
    plan = [{"type": "discover-notes", "query": "what draws the tides", "limit": 1, "out": "$found"}]

    async def asked() -> str:
        async with Client(server) as client:
            answer = await client.call_tool("run", {"plan": {"steps": plan, "result": "$found"}})
            return "".join(block.text for block in answer.content if isinstance(block, TextContent))

    assert "The moon" in asyncio.run(asked())


def finds_nothing_wrong_with_itself(installed: Installed) -> None:
    """No index of vectors was built, which is said with the size from which it would be of use."""
    findings = json.loads(installed("doctor", "--json").stdout)["findings"]
    assert {one["what"]: one["verdict"] for one in findings if one["verdict"] != "good"} == {"language model": "weak"}
    [index] = [one for one in findings if one["what"] == "vector index"]
    assert "50,000 passages" in index["message"]
    assert "'infospace[hnsw]'" in index["advice"]


def keeps_nothing_that_is_used_once(installed: Installed) -> None:
    """What writes the model's graph is in the package itself."""
    there = said([str(installed.home / "env/bin/python"), "-m", "pip", "list", "--format=freeze"]).lower()
    names = {line.partition("==")[0] for line in there.splitlines()}
    assert {"fastembed", "mcp", "textual"} <= names
    assert not names & {"onnx", "safetensors", "hnswlib", "openai", "sympy", "torch"}


def reads_a_pdf_as_advised(installed: Installed) -> None:
    (installed.home / "a.pdf").write_bytes(pdf_of("the tides of the moon"))
    refused = installed("add", "a.pdf", code=1).stderr
    advice = re.search(r"nothing here reads those \((.*)\)$", refused, re.MULTILINE)
    assert advice is not None, refused
    words = shlex.split(advice[1])
    done_well([str(installed.command.parent / "pip"), *words[1:]] if words[0] == "pip" else words, installed.home)
    assert installed("add", "a.pdf").stdout.startswith("1 added")


def pdf_of(text: str) -> bytes:
    """A PDF of one page with a line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
            b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    written, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 5\n0000000000 65535 f \n" + table
    return written + head + b"trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(written)
