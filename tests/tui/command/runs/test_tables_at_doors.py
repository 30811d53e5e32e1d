"""`run --input rows=@data.csv --out totals.csv`: tables go in and come out on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PLAN = {
    "inputs": {
        "rows": {
            "kind": "Collection",
            "items": {"type": "object", "properties": {"region": {"type": "string"}, "price": {"type": "number"}}},
        }
    },
    "steps": [{"type": "group", "target": "$rows", "by": "region", "aggregates": {"t": "sum(price)"}, "out": "$r"}],
    "result": "$r",
}


@pytest.fixture
def plan(tmp_path: Path) -> str:
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "data.csv").write_text('region,price\n"north, far",1.5\nsouth,2\n"north, far",3\n')
    return "plan.json"


def test_a_table_goes_in_and_one_comes_out(cli: Any, tmp_path: Path, plan: str) -> None:
    """By the endings of the files."""
    said = cli("run", plan, "--input", "rows=@data.csv", "--out", "out.csv", "--print", "result")
    assert (said.code, said.out) == (0, ""), said.err
    assert (tmp_path / "out.csv").read_text() == 'region,t\n"north, far",4.5\nsouth,2\n'
    assert "north, far" in cli("run", plan, "--input", "rows=@data.csv", "--out", "out.csv").out
    assert cli("run", plan, "--input", "rows=@out.csv").code == 0, "a table that was written is read: `t` is free"
    for name in ("out.json", "out.jsonl", "out.tsv"):
        assert cli("run", plan, "--input", "rows=@data.csv", "--out", name).code == 0
    assert json.loads((tmp_path / "out.json").read_text())[1] == {"region": "south", "t": 2}
    assert (tmp_path / "out.jsonl").read_text().splitlines()[1] == '{"region":"south","t":2}'
    assert (tmp_path / "out.tsv").read_text().splitlines()[1] == "north, far\t4.5"


@pytest.mark.parametrize("more", [[], ["--json"]], ids=str)
def test_a_dry_run_writes_its_result_too(cli: Any, tmp_path: Path, plan: str, more: list[str]) -> None:
    """With its document beside it or not; what cannot be rows is refused before, as of a run."""
    said = cli("run", plan, "--input", "rows=@data.csv", "--dry-run", "--out", "out.csv", *more)
    assert said.code == 0, said.err
    assert (tmp_path / "out.csv").read_text() == 'region,t\n"north, far",4.5\nsouth,2\n'
    (tmp_path / "one.json").write_text('[{"type": "create-note", "value": 3, "out": "$x"}]')
    refused = cli("run", "one.json", "--dry-run", "--out", "one.csv", *more)
    assert (refused.code, "and a .csv file holds rows: nothing was run" in refused.err) == (2, True)
    assert not (tmp_path / "one.csv").exists()


def test_a_plan_that_arrives_takes_a_table_too(cli: Any, plan: str) -> None:
    """On standard input, in a space that is there and in one that is not."""
    for _ in range(2):
        said = cli("run", "-", "--input", "rows=@data.csv", "--print", "result", "--json", stdin=json.dumps(PLAN))
        assert said.code == 0, said.err
        assert said.json["result"]["data"][0] == {"region": "north, far", "t": 4.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("region,price\na,x\n", "row 1, column 'price' of 'bad.csv': \"x\" is not a number"),
        ("region,region\na,x\n", "two columns of 'bad.csv' are called 'region'"),
    ],
)
def test_a_table_that_does_not_fit_refuses_the_run(
    cli: Any, tmp_path: Path, plan: str, text: str, message: str
) -> None:
    """Nothing has happened then, which the code and the document say."""
    (tmp_path / "bad.csv").write_text(text)
    said = cli("run", plan, "--input", "rows=@bad.csv", "--json")
    assert said.code == 3
    assert (said.json["status"], said.json["run"]) == ("refused", None)
    [problem] = said.json["problems"]
    assert (problem["code"], problem["pointer"], problem["message"]) == ("bad-input", "/inputs/rows", message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("@nothing.csv", "'nothing.csv' cannot be read"),
        ("@plan.txt", "'plan.txt' is not known to be a table"),
        ("@@data", "nothing has that id or name"),
        ('[{"price": "x"}]', "row 1: "),
    ],
)
def test_other_values_say_what_is_wrong(cli: Any, tmp_path: Path, plan: str, value: str, message: str) -> None:
    """`@@` is an `@` that begins a name; a list may stand on the line itself."""
    (tmp_path / "plan.txt").write_text("x")
    said = cli("run", plan, "--input", f"rows={value}")
    assert said.code == 3
    assert message in said.err


def test_an_at_is_text_where_no_table_is_wanted(cli: Any, tmp_path: Path) -> None:
    """`@file` is read for Collections alone."""
    say = {"inputs": {"who": {"type": "string"}}, "steps": [{"type": "say", "value": "${who}"}]}
    (tmp_path / "say.json").write_text(json.dumps(say))
    assert "@data.csv" in cli("run", "say.json", "--input", "who=@data.csv").err


def test_a_result_that_cannot_be_rows_is_refused_before_the_run(cli: Any, tmp_path: Path) -> None:
    """As far as the check knows it; a list, and what may be one, runs."""
    for value, code in ((3, 2), ({"a": 1}, 2), ([{"a": 1}], 0)):
        step = {"type": "create-note", "value": value, "name": "x", "replace": True, "out": "$x"}
        (tmp_path / "one.json").write_text(json.dumps([step]))
        before = len(cli("runs", "--json").json["runs"])
        found = cli("run", "one.json", "--out", "out.csv")
        assert found.code == code, found.err
        assert ("and a .csv file holds rows: nothing was run" in found.err) is bool(code)
        assert len(cli("runs", "--json").json["runs"]) == before + (not code)


def test_a_result_without_rows_is_not_written_as_a_table(cli: Any, tmp_path: Path) -> None:
    """The run has gone well, and the file is left as it was."""
    coerced = {"type": "coerce", "target": "$t", "coercion": "json", "out": "$x"}
    (tmp_path / "one.json").write_text(json.dumps([{"type": "create-note", "value": "3", "out": "$t"}, coerced]))
    (tmp_path / "out.csv").write_text("kept")
    said = cli("run", "one.json", "--out", "out.csv")
    assert said.code == 1
    assert "a .csv file holds rows" in said.err
    assert (tmp_path / "out.csv").read_text() == "kept"
