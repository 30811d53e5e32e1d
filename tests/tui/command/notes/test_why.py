"""`infospace why` and `infospace stale`: for a person, as JSON, and as W3C PROV-JSON."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from prov.model import ProvDocument

from infospace import Space
from tui.command.notes.why import _package

PLAN = {
    "goal": "Every decision",
    "inputs": {"topic": {"type": "string"}},
    "steps": [
        {"type": "discover-notes", "query": "decisions about ${topic}", "threshold": 0.4, "out": "$hits"},
        {"type": "pluck", "target": "$hits", "field": "metadata.title", "out": "$titles"},
        {"type": "flatten", "target": "$titles", "separator": "\n", "out": "$list", "name": "digest"},
        {"type": "update-note", "target": "$list", "value": "About ${topic}: ${titles[0]}"},
    ],
    "result": "$list",
}


@pytest.fixture
def planned(cli: Any, sample_file: Path, tmp_path: Path) -> Any:
    """The sample notes (run_1), and a plan that was run over them (run_2)."""
    shutil.copy(sample_file, tmp_path / "space.db")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    done = cli("run", "plan.json", "--input", "topic=ranking", "--json")
    assert done.code == 0
    return done.json


@pytest.fixture
def small(cli: Any) -> None:
    """Two plans without any search: Note_1 and Note_2, and `both` made of them in run_2."""
    cli("run", "-", stdin=json.dumps([{"type": "create-note", "value": n, "name": n} for n in ("one", "two")]))
    steps = [
        {"type": "create-collection", "value": ["Note_1", "Note_2"], "out": "$c"},
        {"type": "flatten", "target": "$c", "out": "$t", "name": "both"},
    ]
    assert cli("run", "-", stdin=json.dumps(steps)).code == 0


def test_a_note_is_followed_back_to_its_files(cli: Any, planned: Any) -> None:
    """Each version with its step; of a search result the score and the query; of a note the file."""
    lines = cli("why", "digest").out.splitlines()
    note = planned["bindings"]["list"]["id"]
    assert lines[0] == f"{note}@2 'digest'  by run_2 step 4 update-note"
    assert f"{note}@1 'digest'  by run_2 step 3 flatten  its content changed since: now version 2" in lines
    text = "\n".join(lines)
    found = re.search(
        r"Note_\d+@1  found with 0\.\d{3} by run_2 step 1 discover-notes 'decisions about \$\{topic\}'", text
    )
    assert found
    assert re.search(r"Note_\d+@1  “.+”  from /.+\.md by run_1 add", text)
    assert "given to run_2 as $topic" in text
    assert "$titles = Collection_2@1" in text


def test_a_version_alone_is_followed(cli: Any, planned: Any) -> None:
    said = cli("why", "digest", "--version", "1", "--json").json
    assert said["roots"] == [planned["bindings"]["list"]["id"] + "@1"]
    assert cli("why", "digest", "--version", "9").code == 1


def test_the_whole_graph_is_given_as_json(cli: Any, planned: Any) -> None:
    """Every version that is named is there, every step, and every run."""
    said = cli("why", "digest", "--json").json
    versions = said["versions"]
    edges = [edge for one in versions.values() for edge in one["from"]]
    edges += [edge for step in said["steps"].values() for edge in step["used"] + step["used_for_each"]]
    assert {edge["version"] for edge in edges} <= versions.keys()
    assert {edge["variable"] for edge in edges} == {None, "$hits", "$titles", "$topic"}
    sources = [one for one in versions.values() if one["file"]]
    hits = [one for one in versions.values() if one["source"]]
    assert len(sources) == len(hits) == planned["bindings"]["hits"]["size"]
    assert {one["source"]["version"] for one in hits} == {f"{one['id']}@1" for one in sources}
    assert {one["by_step"] for one in versions.values()} - {None} == said["steps"].keys()
    assert said["runs"].keys() == {"run_1", "run_2"}
    assert said["steps"]["run_2/2"]["type"] == "pluck"


def test_what_was_made_of_a_note_is_shown(cli: Any, planned: Any) -> None:
    """Through the search that found it."""
    said = cli("why", "digest", "--json").json
    source = next(one["id"] for one in said["versions"].values() if one["file"])
    forward = cli("why", source, "--forward", "--json").json
    assert {f"{planned['bindings']['list']['id']}@{version}" for version in (1, 2)} < forward["versions"].keys()
    text = cli("why", source, "--forward").out
    assert "as $titles in " in text
    assert "found with" in text


def test_nothing_made_of_it_is_said(cli: Any, small: None) -> None:
    assert cli("why", "both", "--forward").out.splitlines()[1:] == ["└─ nothing was made of it"]


def test_depth_and_width_are_bounded(cli: Any, small: None) -> None:
    """And what is left out is counted."""
    many = [{"type": "create-collection", "value": list(range(30)), "out": "$c"}]
    many += [{"type": "tail", "target": "$c", "count": 20, "out": "$d"}]
    many += [{"type": "flatten", "target": "$d", "out": "$t", "name": "many"}]
    cli("run", "-", stdin=json.dumps(many))
    wide = cli("why", "many", "--width", "3").out.splitlines()
    assert [len(wide), wide[-1]] == [6, "└─ … and 18 more"]
    assert "│  └─ … and what is behind it: `--depth` shows more" in cli("why", "many", "--depth", "1").out
    assert "--depth" not in cli("why", "many", "--depth", "2").out


def test_all_that_a_run_made_is_told_of_the_run(cli: Any, small: None) -> None:
    said = cli("why", "run_2", "--json").json
    assert set(said["roots"]) == {"Note_3@1", "Collection_1@1"}
    assert cli("why", "run_9").code == 1
    assert "which has no versions" in cli("why", "run_2", "--version", "1").err
    cli("run", "-", stdin='[{"type": "say", "value": "hello"}]')
    assert "run_3 made nothing" in cli("why", "run_3").err


def test_a_pruned_run_is_said_to_be(cli: Any, small: None) -> None:
    cli("prune", "--runs", "run_2", "--yes")
    assert cli("why", "both").out == "Note_3@1 'both'  by run_2 step 2 flatten: the run is pruned\n"
    assert cli("why", "both", "--json").json["runs"] == {"run_2": {"pruned": True}}


def test_what_was_removed_for_good_is_said_to_be(cli: Any, small: None) -> None:
    cli("rm", "Note_1")
    assert "deleted at" in cli("why", "Note_1").out
    cli("prune", "--yes")
    assert "Note_1@1  removed for good" in cli("why", "both").out


TERMS = {
    "wasGeneratedBy": ("entity", "activity"),
    "used": ("activity", "entity"),
    "wasDerivedFrom": ("generatedEntity", "usedEntity"),
    "wasAssociatedWith": ("activity", "agent"),
    "actedOnBehalfOf": ("delegate", "responsible"),
    "wasStartedBy": ("activity", "starter"),
    "hadMember": ("collection", "entity"),
}
"""Relations of PROV-JSON with the roles that each must name (https://www.w3.org/submissions/prov-json/)."""

NAMES = {"entity": "entity", "generatedEntity": "entity", "usedEntity": "entity", "collection": "entity"}
NAMES |= {"activity": "activity", "starter": "activity", "agent": "agent", "delegate": "agent", "responsible": "agent"}
NAMES |= {"plan": "entity"}


def assert_prov(document: Any) -> None:
    """Assert the submission's rules: names declared, roles given, literals typed, blank names for relations alone."""
    prefixes = {"prov", "xsd", *document.pop("prefix")}
    things = {kind: document.pop(kind, {}) for kind in ("entity", "activity", "agent")}
    for kind, records in things.items():
        for name, attributes in records.items():
            assert name.partition(":")[0] in prefixes, (kind, name)
            assert_attributes(attributes, prefixes)
    assert document.keys() <= TERMS.keys()
    for relation, records in document.items():
        for name, attributes in records.items():
            assert name.startswith("_:")
            assert all(f"prov:{role}" in attributes for role in TERMS[relation])
            for role, thing in NAMES.items():
                assert attributes.get(f"prov:{role}", "") in {"", *things[thing]}, (relation, attributes)
            assert_attributes(attributes, prefixes)


def assert_attributes(attributes: Any, prefixes: set[str]) -> None:
    """Assert that attributes are qualified names, and values literals."""
    for key, value in attributes.items():
        assert key.partition(":")[0] in prefixes
        if isinstance(value, dict):
            assert value.keys() <= {"$", "type", "lang"}
            assert isinstance(value["$"], str)
        else:
            assert isinstance(value, (str, int, float, bool))


@pytest.mark.parametrize("of", ["digest", "run_2"])
def test_provenance_is_given_as_prov_json(cli: Any, planned: Any, of: str) -> None:
    """By the submission's own rules; another implementation reads it, and writes the same."""
    said = cli("why", of, "--prov")
    read = ProvDocument.deserialize(content=said.out, format="json")
    assert ProvDocument.deserialize(content=read.serialize(format="json"), format="json") == read
    document = said.json
    note = f"space:{planned['bindings']['list']['id']}"
    generated = {one["prov:entity"]: one["prov:activity"] for one in document["wasGeneratedBy"].values()}
    assert (generated[f"{note}@1"], generated[f"{note}@2"]) == ("space:run_2/3", "space:run_2/4")
    revision = {"$": "prov:Revision", "type": "prov:QUALIFIED_NAME"}
    derived = list(document["wasDerivedFrom"].values())
    assert [one["prov:usedEntity"] for one in derived if one.get("prov:type") == revision] == [f"{note}@1"]
    quotation = revision | {"$": "prov:Quotation"}
    sizes = planned["bindings"]["hits"]["size"]
    assert [one.get("prov:type") for one in derived].count(quotation) == sizes
    assert {one.get("prov:role") for one in document["used"].values()} == {None, "$hits", "$titles", "$topic"}
    step = document["activity"]["space:run_2/1"]
    began, ended = (datetime.fromisoformat(step[f"prov:{when}Time"]) for when in ("start", "end"))
    assert (ended - began).total_seconds() * 1_000 == pytest.approx(planned["steps"][0]["duration_ms"], abs=1)
    assert document["agent"]["infospace:package/primitives"]["prov:label"] == "primitives"
    assert any("prov:location" in one for one in document["entity"].values())
    assert_prov(document)


@pytest.mark.parametrize(
    ("type_", "package"), [("flatten", "primitives"), ("mail/send", "mail"), ("if", None)], ids=str
)
def test_a_step_is_of_the_package_of_its_type_or_of_a_server(space: Space, type_: str, package: str | None) -> None:
    assert _package(space, type_) == package


def test_prov_and_forward_do_not_go_together(cli: Any, small: None) -> None:
    assert cli("why", "both", "--prov", "--forward").code == 2


def test_what_is_stale_is_told_with_what_changed(cli: Any, small: None) -> None:
    """And through what; nothing is, before."""
    assert (cli("stale").code, cli("stale").out) == (0, "")
    cli("edit", "one", "--value", "-", stdin="other")
    said = cli("stale")
    assert said.out.splitlines() == [
        "Note_3@1 'both'  by run_2 step 2 flatten",
        "  Note_1@1 'one'  changed its content: now version 2 by run_3",
    ]
    assert "1 of 3 resources stale" in said.err
    (one,) = cli("stale", "both", "--json").json["stale"]
    assert (one["id"], one["name"], one["version"]) == ("Note_3", "both", 1)
    (changed,) = one["changed"]
    assert changed == {
        "id": "Note_1",
        "version": 1,
        "now": 2,
        "what": "content",
        "deleted": None,
        "by": {"run": "run_3", "step": None, "by": "edit"},
        "through": [],
    }


def test_a_deleted_input_and_a_pruned_run_are_told(cli: Any, small: None) -> None:
    cli("rm", "two")
    assert "Note_2@1  “two”  was deleted at" in cli("stale").out
    cli("prune", "--runs", "run_2", "--yes")
    said = cli("stale", "--json").json
    assert (said["stale"], said["unknown"]) == ([], ["Note_3"])
    assert "runs were pruned: Note_3" in cli("stale").err


def test_too_little_is_known_of_what_stands_on_something_that_was_removed_for_good(cli: Any, small: None) -> None:
    """Its content, and so whether it has changed."""
    cli("edit", "one", "--value", "-", stdin="other")
    cli("rm", "one")
    cli("prune", "--yes")
    said = cli("stale", "--json").json
    assert said["unknown"] == ["Note_3"]
