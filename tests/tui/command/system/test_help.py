"""The documentation is true: its commands run, its plans pass the check, every problem code has a section."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infospace import Space, open_space
from infospace.core.errors import InvalidJSON
from infospace.data.json_text import read_json
from infospace.tools.local import LocalTools
from infospace.tools.mcp.config import read_entries
from infospace.tools.search.rules.rule_file import read_rules
from planner.evaluation.suite import read_suite
from planner.execute.start import check_plan
from planner.server.config import read_config
from tui.command import COMMANDS, build_parser
from tui.help import PAGES, SEE, codes, page, section
from tui.help.generate import vocabulary

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "tui" / "help"

NO_PLAN = {
    "not-json",
    "missing-input",
    "unsupported",
    "plan-cycle",
    "tool-not-read-only",
    "not-connected",
    "blocked",
    "outside-text",
    "hidden-property",
}
"""Codes whose problem needs more than a plan: a server, a session, saved plans, text in no file, other notes."""


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def _servers(value: Any) -> Any:
    """Return the servers of a configuration of clients; empty for anything else."""
    return value.get("mcpServers", {}) if isinstance(value, dict) else {}


def commands(text: str) -> list[str]:
    """Return the commands of a page, one a line."""
    return [line for block in blocks(text, "sh") for line in block.splitlines()]


@pytest.fixture(scope="module")
def samples(sample_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Space]:
    """A space with the sample notes; the pages' plans are checked against it, and none is run."""
    path = tmp_path_factory.mktemp("help") / "space.db"
    shutil.copy(sample_file, path)
    tracker = LocalTools("tracker")

    @tracker.tool(read_only=True)
    def issues(project: str, cursor: str = "") -> dict[str, Any]:
        """List issues."""
        return {"issues": [project, cursor]}

    with open_space(path) as space:
        space.tools.add(tracker)
        yield space


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "INFOSPACE_LLM_URL", "INFOSPACE_LLM_MODEL", "INFOSPACE_LLM_KEY"):
        monkeypatch.delenv(name, raising=False)


# The command


def test_help_lists_the_pages_and_every_page_is_listed(cli: Any) -> None:
    said = cli("help")
    assert [line.split()[0] for line in said.out.splitlines()] == list(PAGES)
    assert {path.stem for path in FOLDER.glob("*.md")} == set(PAGES)
    listed = cli("help", "--json").json["topics"]
    assert [(one["topic"], one["summary"]) for one in listed] == list(PAGES.items())


def test_help_shows_a_page_as_it_stands_in_the_repository(cli: Any) -> None:
    said = cli("help", "glossary")
    assert (said.code, said.out) == (0, (FOLDER / "glossary.md").read_text(encoding="utf-8"))
    assert cli("help", "glossary", "--json").json["markdown"] == said.out


def test_help_of_a_command_is_its_help_and_the_page_that_says_more(cli: Any) -> None:
    own = cli("search", "--help").out
    said = cli("help", "search")
    assert said.out.startswith(own.rstrip())
    assert said.out.endswith("`infospace help searching` says more.\n")
    assert cli("help", "search", "--json").json == {"topic": "search", "text": own, "page": "searching"}


def test_help_of_a_code_is_its_section(cli: Any) -> None:
    said = cli("help", "unknown-field")
    assert said.out.startswith("### unknown-field\n")
    assert "**Fix.**" in said.out
    assert said.out.count("###") == 1


@pytest.mark.parametrize(
    ("topic", "near"), [("glosary", "glossary"), ("serch", "search"), ("unknown-feild", "unknown-field")]
)
def test_a_mistyped_topic_gets_the_nearest(cli: Any, topic: str, near: str) -> None:
    said = cli("help", topic)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"infospace: there is no topic {topic!r} (did you mean {near!r}?)\n"


@pytest.mark.parametrize("name", ["discover-notes", "for-each"])
def test_help_of_a_primitive_is_its_contract(cli: Any, name: str) -> None:
    said = cli("help", name)
    assert said.code == 0
    assert f"{name}" in said.out.splitlines()[0]
    assert said.out.strip() == cli("primitives", name).out.strip()


def test_a_topic_names_one_thing() -> None:
    names = [*PAGES, *COMMANDS, *codes()]
    assert len(names) == len(set(names))
    assert SEE.keys() <= COMMANDS.keys()
    assert set(SEE.values()) <= PAGES.keys()


# What the pages say


@pytest.mark.slow
def test_every_command_of_getting_started_runs(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the page, with the files that it says to save."""
    text = page("getting-started")
    for name, content in re.findall(r"[Ss]ave this as `(\S+?)`:\n\n```\w+\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    said = {line: cli(*shlex.split(line)[1:]) for line in commands(text)}
    assert {line: one.err for line, one in said.items() if one.code} == {}
    assert len(said) >= 10
    assert "Decision: rank fusion" in said["infospace run plan.json"].out
    assert "Decision: rank fusion" in said["infospace search 'how do we rank results'"].out
    assert "decisions so far" not in cli("notes").out


@pytest.mark.parametrize("topic", PAGES)
def test_every_command_named_on_a_page_can_be_called_so(topic: str) -> None:
    """Those in blocks with their arguments; `infospace NAME` in the text by its name."""
    for line in commands(page(topic)):
        program, *arguments = shlex.split(line)
        assert program == "infospace"
        assert build_parser(arguments).parse_args(arguments).command == arguments[0], line
    for name, argument in re.findall(r"`infospace ([a-z]+)(?: ([\w-]+))?", page(topic)):
        assert name in COMMANDS, name
        if name == "help" and argument and argument.islower():
            assert argument in PAGES.keys() | COMMANDS.keys(), argument


@pytest.mark.parametrize("topic", [topic for topic in PAGES if topic != "problems"])
def test_every_json_on_a_page_is_right(topic: str, samples: Space, tmp_path: Path) -> None:
    """Plans pass the check; files of servers and of scopes are read by what reads them."""
    for text in blocks(page(topic), "json"):
        value = json.loads(text)
        (tmp_path / "file.json").write_text(text)
        if "infospace" in _servers(value):
            server = value["mcpServers"]["infospace"]
            assert build_parser(server["args"]).parse_args(server["args"]).command == "serve"
        elif _servers(value):
            read = read_entries(tmp_path / "file.json")
            assert (len(read.entries), list(read.problems)) == (1, [])
        elif isinstance(value, dict) and "rules" in value:
            assert read_rules(tmp_path / "file.json").rules
        elif isinstance(value, dict) and "scopes" in value:
            assert read_config(tmp_path / "file.json", {})
        elif isinstance(value, dict) and {"id", "goal", "answer"} <= value.keys():
            assert read_suite(json.dumps(value))
        else:
            errors = [one for one in check_plan(samples, value)[1].found if one.severity == "error"]
            assert errors == [], text


@pytest.mark.parametrize("topic", PAGES)
def test_files_that_a_page_names_exist(topic: str) -> None:
    for name in re.findall(r"`((?:infospace|planner|primitives|tui|tests)/[\w/.*-]*)`", page(topic)):
        assert list(ROOT.glob(name.rstrip("/"))), name


def test_the_page_of_the_vocabulary_is_generated_from_the_contracts() -> None:
    assert page("vocabulary") == vocabulary(), "`python -m tui.help.generate` writes it"


def test_the_python_shown_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks(page("python"), "python"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "success re"
    assert lines[1].startswith('failed refused: `slice` is "end"')
    assert lines[3] == "success 2"
    assert lines[2] == "refused [\"there is no step type 'sya'\"]"


def test_the_primitive_shown_is_a_primitive() -> None:
    names: dict[str, Any] = {"__name__": "shown"}
    exec(blocks(page("writing-a-primitive"), "python")[0], names)  # noqa: S102 - the page's own text
    assert names["shout"].type == "shout"
    assert names["shout"].returns == "Note"


# Problems


def _given(tree: ast.AST) -> Iterator[str]:
    """The codes that a module gives to problems."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        place = 1 if called == "Fault" else 0
        if (
            called in ("error", "warn", "Problem", "Doubt", "Fault", "ReferenceInvalid", "ArgumentInvalid")
            and len(node.args) > place
        ):
            yield from _texts(node.args[place])


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[a-z]+(-[a-z]+)*", node.value):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
    elif isinstance(node, ast.JoinedStr):
        yield ast.unparse(node)


def test_every_code_has_a_section_and_every_section_is_of_a_code() -> None:
    from infospace.contract.argument_errors import _CODES
    from infospace.contract.arguments import OFFERED

    given = set(_CODES.values()) | {"bad-argument"}
    for room in ("infospace", "planner"):
        for path in (ROOT / room).rglob("*.py"):
            given |= set(_given(ast.parse(path.read_text(encoding="utf-8"))))
    made = {code for code in given if code.startswith("f") and "{" in code}
    assert made == {"f'unknown-{kind}'"}
    given = given - made | {f"unknown-{kind}" for kind in OFFERED.values()}
    assert given == set(codes())
    assert len(codes()) == len(set(codes()))


def _found(space: Space, text: str) -> set[str]:
    try:
        document = read_json(text)
    except InvalidJSON as error:
        return {error.kind}
    return {problem.code for problem in check_plan(space, document)[1].found}


@pytest.mark.parametrize("code", codes())
def test_the_plan_of_a_section_has_its_problem(code: str, samples: Space) -> None:
    text = section(code)
    assert "**Cause.**" in text
    assert "**Fix.**" in text
    plans = blocks(text, "json")
    assert (code in NO_PLAN) == (not plans)
    for plan in plans:
        assert code in _found(samples, plan)


# Architecture


def test_every_file_and_room_that_architecture_names_is_there() -> None:
    """Whoever follows the page opens what it says."""
    named = re.findall(r"`((?:infospace|planner|primitives|tui)/[a-z_/]*(?:\.[a-z]+)?)`", page("architecture"))
    root = Path(__file__).parents[4]
    assert len(named) > 40
    assert [name for name in named if not (root / name).exists()] == []


def test_every_function_that_architecture_names_is_in_its_file() -> None:
    """A renamed function is renamed on the page too: whoever greps for it would land elsewhere."""
    file = r"`((?:infospace|planner|primitives|tui|tests)/[a-z0-9_/]+\.py)`"
    found = re.findall(file + r"(?:(?!\.py`)[^(\n])*\(((?:`[A-Za-z_][\w.]*`(?:, )?)+)\)", page("architecture"))
    named = [(path, name) for path, names in found for name in re.findall(r"`([\w.]+)`", names)]
    assert len(named) > 40
    assert [(path, name) for path, name in named if name not in _defined(ROOT / path)] == []


def _defined(file: Path) -> set[str]:
    """Return what a module defines at its top, and what its classes do, as `Class.name`."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        for name in _names_of(node):
            found.add(name)
            found |= {f"{name}.{inner}" for part in getattr(node, "body", ()) for inner in _names_of(part)}
    return found


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
