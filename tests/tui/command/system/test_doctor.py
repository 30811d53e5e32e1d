"""`infospace doctor`: what it finds, and what `--deep` finds besides."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from chatting import Endpoint

from infospace import open_space
from infospace.core.listener import NullListener
from infospace.files.import_files import import_paths
from tui.command.system.doctor import _read_by_earlier_version

HURT = {
    "UPDATE passages SET digest = (SELECT digest FROM passages WHERE note = 2 AND sequence = 0) WHERE note = 1": (
        "Note_1 has a passage whose digest is not that of its text"
    ),
    "UPDATE passages SET digest = x'00' WHERE note = 1 AND sequence = 0": "Note_1 has text that is in none of",
    "UPDATE passages SET start = start + 30 WHERE note = 1 AND start >= 0": "Note_1 has text that is in none of",
    'UPDATE passages SET "end" = "end" + 100000 WHERE note = 1': "Note_1 has passages that do not lie one after",
    'UPDATE passages SET "end" = start WHERE note = 1': "Note_1 has passages that do not lie one after",
    "UPDATE passages SET version = 7 WHERE note = 1": "Note_1 is at version 1, and its passages are not",
    "DELETE FROM passages WHERE note = 1": "Note_1 is searched, and neither is it embedded",
    "INSERT INTO pending VALUES (1)": "Note_1 waits to be embedded and has passages",
    "INSERT INTO pending VALUES (4000)": "Note_4000 waits to be embedded and is not searched",
    """UPDATE resources SET content = json_quote(replace(content ->> '$', 'a', 'b')), hash = NULL
        WHERE key = 4""": "Note_1 has a passage whose digest is not that of its text",
    "UPDATE vectors SET vector = substr(vector, 1, 16)": "vectors have 4 dimensions, and the model",
    """UPDATE vectors SET vector = zeroblob(length(vector))
        WHERE digest = (SELECT digest FROM passages WHERE note = 1)""": "Note_1 has a vector of length 0, not 1",
    """UPDATE vectors SET vector = CAST(x'0000c07f' || substr(vector, 5) AS BLOB)
        WHERE digest = (SELECT digest FROM passages WHERE note = 1)""": "Note_1 has a vector that holds NaN",
}


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample space, the space of the command."""
    path = tmp_path / "sample.db"
    shutil.copy(sample_file, path)
    monkeypatch.setenv("INFOSPACE_SPACE", str(path))
    return path


def hurt(path: Path, statement: str) -> None:
    """Change a file behind the back of the store."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def of(answer: Any, what: str) -> list[dict[str, Any]]:
    """Return the findings about one thing."""
    return [finding for finding in answer.json["findings"] if finding["what"] == what]


def test_a_deep_look_at_a_sound_space_finds_that_all_agrees(cli: Any, sample: Path) -> None:
    """The sample space as it was imported and embedded with the real model; nothing is written by looking."""
    before = sample.read_bytes()
    answer = cli("doctor", "--deep", "--json")
    assert (answer.code, answer.json["ok"]) == (0, True)
    assert [finding["verdict"] for finding in of(answer, "discovery")] == ["good"]
    assert sample.read_bytes() == before
    assert of(cli("doctor", "--json"), "discovery") == []


@pytest.mark.parametrize(("statement", "sentence"), HURT.items())
def test_whatever_is_hurt_is_found_and_ends_in_code_1(cli: Any, sample: Path, statement: str, sentence: str) -> None:
    """A file changed by SQL of one's own: the deep look says what, and what helps."""
    hurt(sample, statement)
    answer = cli("doctor", "--deep", "--json")
    findings = of(answer, "discovery")
    assert (answer.code, answer.json["ok"]) == (1, False)
    assert any(finding["message"].startswith(sentence) for finding in findings), findings
    assert {finding["verdict"] for finding in findings} == {"bad"}
    assert "sample.db.derived" in findings[0]["advice"]


def test_a_vector_of_another_length_than_the_others_is_found(cli: Any, sample: Path) -> None:
    """Without a deep look too, since no search can be made of it."""
    hurt(
        sample,
        """UPDATE vectors SET vector = substr(vector, 1, 16)
        WHERE digest = (SELECT digest FROM passages WHERE note = 1)""",
    )
    for arguments in (("doctor", "--json"), ("doctor", "--deep", "--json")):
        answer = cli(*arguments)
        assert answer.code == 1
        assert any("Note_1 is found by a vector of another length" in found["message"] for found in of(answer, "space"))


def test_all_that_is_inconsistent_is_told_only_by_a_deep_look(cli: Any, sample: Path) -> None:
    """The first sentence stands for the others; `--deep` gives them all."""
    hurt(sample, "UPDATE passages SET version = 7")
    assert len(of(cli("doctor", "--json"), "space")) == 1
    assert len(of(cli("doctor", "--deep", "--json"), "space")) > 5


def test_a_deep_look_counts_what_one_check_finds_beyond_twenty(cli: Any, sample: Path) -> None:
    """A space that is wrong all over is not told of at length."""
    hurt(sample, "UPDATE vectors SET vector = zeroblob(length(vector))")
    message = [finding["message"] for finding in of(cli("doctor", "--deep", "--json"), "discovery")]
    assert len(message) == 21
    assert message[-1].endswith(" more like the last")


def test_a_deep_look_at_a_space_that_is_not_there_creates_none(cli: Any, tmp_path: Path) -> None:
    """A space that nobody made is no fault."""
    assert cli("doctor", "--deep").code == 0
    assert not (tmp_path / "space.db").exists()


def test_findings_are_lines_with_marks(cli: Any, sample: Path) -> None:
    """A tick for what is well; a cross and advice for what is not."""
    assert "✓ discovery: passages, vectors, words and derived files agree" in cli("doctor", "--deep").out
    hurt(sample, "DELETE FROM passages WHERE note = 1")
    out = cli("doctor", "--deep").out
    assert "✗ discovery: Note_1 is searched, and neither is it embedded nor does it wait to be" in out
    assert "→ a note is embedded again when it is changed" in out


def test_it_says_whether_a_language_model_is_configured(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is no fault, since only some primitives need one; one that does not answer is, and no key is shown."""
    for name in ("INFOSPACE_LLM_MODEL", "INFOSPACE_LLM_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "INFOSPACE_LLM_API"):
        monkeypatch.delenv(name, raising=False)
    (found,) = of(cli("doctor", "--json"), "language model")
    assert (found["verdict"], found["message"][:32]) == ("weak", "no language model is configured:")
    monkeypatch.setenv("INFOSPACE_LLM_MODEL", "small")
    monkeypatch.setenv("INFOSPACE_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("INFOSPACE_LLM_KEY", "secret")
    monkeypatch.setenv("INFOSPACE_LLM_RETRIES", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    answer = cli("doctor", "--json")
    (found,) = of(answer, "language model")
    assert found["verdict"] == "bad"
    assert found["message"].startswith("small does not answer: http://127.0.0.1:9/v1 cannot be reached, or broke off")
    assert "secret" not in answer.out


def test_it_tries_the_language_model(cli: Any, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it answers, keeps to a schema and streams, for the model that writes plans, too."""
    endpoint.answers = lambda _request: '{"answer": "yes"}'
    endpoint.pieces = 3
    monkeypatch.setenv("INFOSPACE_LLM_PLAN_MODEL", "large")
    small, large = of(cli("doctor", "--json"), "language model")
    assert small["verdict"] == large["verdict"] == "good"
    assert small["message"].startswith(f"made at {endpoint.url} answers in ")
    assert "keeps to a JSON schema, streams (first text after " in small["message"]
    assert large["message"].startswith("large at ")
    endpoint.answers = lambda _request: '{"answer": 1}'
    assert "keeps to no JSON schema, streams (" in of(cli("doctor", "--json"), "language model")[0]["message"]
    endpoint.no_streams, endpoint.answers = True, lambda _request: "yes"
    small, _ = of(cli("doctor", "--json"), "language model")
    assert small["verdict"] == "weak"
    assert small["message"].endswith("keeps to no JSON schema, does not stream")


def test_files_that_an_earlier_version_read_are_told(tmp_path: Path) -> None:
    """Until `add` has read them again."""
    folder, address = tmp_path / "notes", tmp_path / "space.db"
    folder.mkdir()
    (folder / "a.md").write_text("mood:: 3\n", encoding="utf-8")
    with open_space(address, create=True) as space:
        import_paths(space, [folder], NullListener())
        assert not list(_read_by_earlier_version(space))
    with contextlib.closing(sqlite3.connect(address)) as other, other:
        other.execute("UPDATE files SET reader = 0, modified = NULL")
    with open_space(address) as space:
        [found] = _read_by_earlier_version(space)
        assert found.verdict == "weak"
        assert "read by an earlier version" in found.message
        assert import_paths(space, [folder], NullListener()).unchanged == 1
        assert not list(_read_by_earlier_version(space))
