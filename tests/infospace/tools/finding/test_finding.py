"""Finding tools with the real model: what is found, what is not, and what is said about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_tools import SERVERS, made_tools, named

from infospace import Invalid
from infospace.core.tool import Tool
from infospace.tools.scope import Filters, Scope
from infospace.tools.search.finder import MISSPELT, Finder
from infospace.tools.search.results import CallExample, ToolQuery, ToolResults

TOOLS = made_tools()
EVERY = Filters(min_score=0)


def names(found: ToolResults) -> list[str]:
    return [hit.tool.full_name for hit in found.hits]


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("read_fiel", "filesystem/read_file"),
        ("filesystem/read_flie", "filesystem/read_file"),
        ("searchCodes", "github/search_code"),
        ("instal_package", "brew/install_package"),
    ],
)
def test_a_name_with_a_slip_is_found_first(finder: Finder, request_: str, wanted: str) -> None:
    """As that tool's name; words of a wish are none."""
    [first, *_] = finder.find(TOOLS, ToolQuery(request_)).hits
    assert (first.tool.full_name, "name" in first.matched_by) == (wanted, True)
    assert first.confidence >= MISSPELT
    wish = finder.find(TOOLS, ToolQuery("read fiel"))
    assert wish.hits
    assert all(hit.confidence < MISSPELT for hit in wish.hits)


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("read config file", "filesystem/read_file"),
        ("show me the folder contents", "filesystem/list_directory"),
        ("delete a directory", "filesystem/delete_directory"),
        ("open a pull request", "github/create_pull_request"),
        ("list open pull requests on my repo", "github/list_pull_requests"),
        ("commit and push my branch", "github/push_files"),
        ("install imagemagick", "brew/install_package"),
        ("install imagemagick via homebrew", "brew/install_package"),
        ("set up imagemagick on my Mac", "brew/install_package"),
    ],
)
def test_the_tool_that_does_it_is_the_first(finder: Finder, request_: str, wanted: str) -> None:
    """Whether the words are its own or not."""
    assert names(finder.find(TOOLS, ToolQuery(request_)))[0] == wanted


@pytest.mark.parametrize("request_", ["hello, how are you?", "what is the weather today", "zzzqqq", "hello"])
def test_what_no_tool_does_has_no_match(finder: Finder, request_: str) -> None:
    """The nearest is a guess, and said to be one."""
    found = finder.find(TOOLS, ToolQuery(request_))
    assert found.no_match
    assert found.hits == []
    assert found.guess is not None


def test_what_a_tool_says_of_itself_finds_it_in_any_crowd(finder: Finder) -> None:
    """Its description, and a sentence of it, however many tools say the same; and a name that many tools have."""
    crowd = [Tool("many", f"tool_{at:03}", "Reads a file. It gives the text.") for at in range(300)]
    for request in ("Reads a file. It gives the text.", "it gives the TEXT"):
        found = finder.find([*crowd, *TOOLS], ToolQuery(request, 400))
        assert [hit for hit in found.hits if hit.tool.server != "many" and hit.ranked >= found.hits[299].ranked] == []
        assert min(hit.score for hit in found.hits[:300]) > 0.999
    about = ("flights", "songs", "court decisions", "recipes", "used cars", "patents", "genes", "hotel rooms", "trains")
    same = [Tool(f"s{at}", "search", f"Looks for {what}.", TOOLS[0].input_schema) for at, what in enumerate(about * 2)]
    assert {hit.tool.name for hit in finder.find([*same, *TOOLS], ToolQuery("search", 18)).hits} == {"search"}


def test_tools_that_say_the_same_count_once(finder: Finder) -> None:
    """Where it is asked what all have in common: one is as relevant beside hundreds like it as beside a few."""
    scores = []
    for count in (3, 600):
        crowd = [Tool("many", f"tool_{at:03}", "Reads a file. It gives the text.") for at in range(count)]
        found = finder.find([*crowd, *TOOLS], ToolQuery("what is the text of this file", 1))
        assert found.hits[0].tool.server in ("many", "filesystem")
        scores.append(found.hits[0].score)
    assert abs(scores[0] - scores[1]) < 0.05


def test_what_scores_the_same_goes_by_name(finder: Finder) -> None:
    """Also where relevance is next to 1, whatever the order in which the tools are given."""
    same = [replace(tool, server=f"{tool.server}{at}") for at in range(5) for tool in TOOLS]
    request = "Read the contents of a file as text. List the files and folders in a directory. Search the code."
    found = finder.find(same, ToolQuery(request, 40, EVERY))
    keys = [(-hit.ranked, hit.tool.full_name) for hit in found.hits]
    assert keys == sorted(keys)
    assert len({ranked for ranked, _ in keys}) > 5
    assert names(finder.find(same[::-1], ToolQuery(request, 40, EVERY))) == names(found)
    assert finder.find(same, ToolQuery(request, 7, EVERY)).hits == found.hits[:7]


def test_each_of_several_goals_is_found(finder: Finder) -> None:
    """A request of several sentences has the tools of all of them among the first."""
    found = finder.find(TOOLS, ToolQuery("Delete the directory build. Then search the code for its name.", 2))
    assert set(names(found)) == {"filesystem/delete_directory", "github/search_code"}


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("uninstal_pakage", "brew/uninstall_package"),
        ("creat_pul_reqest", "github/create_pull_request"),
        ("red_fiel", "filesystem/read_file"),
    ],
)
def test_a_mistyped_name_is_found(finder: Finder, request_: str, wanted: str) -> None:
    """By its trigrams, where no word of it is known; and that is said."""
    best = finder.find(TOOLS, ToolQuery(request_)).hits[0]
    assert best.tool.full_name == wanted
    assert "name" in best.matched_by


@pytest.mark.parametrize("request_", ["search_code", "GitHub/Search_Code"])
def test_a_tool_that_is_named_comes_first(finder: Finder, request_: str) -> None:
    """By its name or its full name, in any case."""
    best = finder.find(TOOLS, ToolQuery(request_)).hits[0]
    assert (best.tool.full_name, best.score) == ("github/search_code", pytest.approx(1, abs=1e-3))
    assert "name" in best.matched_by


@pytest.mark.parametrize("request_", ["Time", "clocks", "when it is"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_a_server_a_category_or_a_tag_that_is_named_finds_its_tools(finder: Finder, request_: str, mode: Any) -> None:
    """However near others are; a tool of that name goes before them."""
    clocks = [
        Tool("time", name, said, tags=("clocks",), category="When it is")
        for name, said in (("get_current", "Get it in a zone."), ("convert", "Convert it between zones."))
    ]
    near = [Tool("near", f"wait_{at}", f"Waits for {at} seconds of time.") for at in range(12)]
    found = finder.find([*near, *clocks, *TOOLS], ToolQuery(request_, 2, mode=mode))
    assert sorted(names(found)) == ["time/convert", "time/get_current"]
    assert all("name" in hit.matched_by for hit in found.hits)
    same = replace(TOOLS[0], name=request_)
    assert names(finder.find([*near, *clocks, *TOOLS, same], ToolQuery(request_, 1, mode=mode))) == [same.full_name]


def test_the_same_tool_of_two_servers_is_found_twice(finder: Finder) -> None:
    """Side by side, and in the order of their names where nothing else tells them apart."""
    tool = named(TOOLS, "filesystem/read_file")
    twins = [*TOOLS, replace(tool, server="attic", server_description="")]
    assert set(names(finder.find(twins, ToolQuery("read a file", 2)))) == {"filesystem/read_file", "attic/read_file"}
    alone = [replace(tool, server=server, server_description="") for server in ("d", "a", "c", "b")]
    found = finder.find(alone, ToolQuery("read the file", filters=EVERY))
    assert len({hit.score for hit in found.hits}) == 1
    assert names(found) == ["a/read_file", "b/read_file", "c/read_file", "d/read_file"]


REQUESTS = ["read a file", "open an issue", "upgrade packages. Then commit them.", "reed fil", "weather"]
servers = st.lists(st.sampled_from([*SERVERS, "nowhere"]), max_size=2).map(tuple)
patterns = st.none() | st.sampled_from(["_", "^list", "package$", "e.*e"])
filters = st.builds(
    Filters,
    servers=servers,
    name_pattern=patterns,
    description_contains=st.none() | st.sampled_from(["FILE", "request"]),
    min_score=st.sampled_from([0, 0.2, 0.6]),
)
scopes = st.builds(Scope, exclude_servers=servers, include_names=st.none() | st.just(("file", "pull")))


@settings(max_examples=60)
@given(st.sampled_from(REQUESTS), filters, st.integers(1, 4), st.sampled_from(["hybrid", "keyword", "semantic"]))
def test_filters_act_before_the_best_are_taken(
    finder: Finder, request_: str, filters: Filters, limit: int, mode: Any
) -> None:
    """What is found is what is found among all without them, filtered, and cut off then."""
    every = finder.find(TOOLS, ToolQuery(request_, None, EVERY, mode=mode))
    kept = [hit for hit in every.hits if filters.admits(hit.tool) and hit.score >= (filters.min_score or 0)]
    found = finder.find(TOOLS, ToolQuery(request_, limit, filters, mode=mode))
    assert list(found.hits) == kept[:limit]
    assert found.matched == len(kept)


@settings(max_examples=60)
@given(st.sampled_from(REQUESTS), filters, scopes)
def test_what_is_out_of_scope_is_as_if_it_did_not_exist(
    finder: Finder, request_: str, filters: Filters, scope: Scope
) -> None:
    """Scores, counts and guesses are those among the tools in scope alone."""
    inside = [tool for tool in TOOLS if scope.allows(tool)]
    assert finder.find(TOOLS, ToolQuery(request_, 3, filters, scope)) == finder.find(
        inside, ToolQuery(request_, 3, filters)
    )


def test_a_request_that_worked_makes_its_tool_more_likely(finder: Finder) -> None:
    """For requests like it, and only where it is given."""
    asked = ToolQuery("brew me some coffee machine software", filters=EVERY)
    remembered = [
        CallExample("get me software for the coffee machine", "github/search_code"),
        CallExample("x", "no/one"),
    ]
    before = {hit.tool.full_name: hit for hit in finder.find(TOOLS, asked).hits}
    after = {hit.tool.full_name: hit for hit in finder.find(TOOLS, asked, remembered=remembered).hits}
    assert after["github/search_code"].score > before["github/search_code"].score
    assert "remembered" in after["github/search_code"].matched_by
    assert [name for name, hit in after.items() if hit.score != before[name].score] == ["github/search_code"]


def test_a_finder_gives_the_same_answer_again(finder: Finder) -> None:
    """Whatever it was asked before, and in whatever order the tools are given."""
    wanted = ToolQuery("search the files", filters=EVERY)
    first = finder.find(TOOLS, wanted)
    finder.find(TOOLS[:4], ToolQuery("anything else"))
    assert finder.find(TOOLS, wanted) == first
    assert finder.find(list(reversed(TOOLS)), wanted).hits == first.hits


def test_a_tool_that_changes_is_found_by_its_new_text(finder: Finder) -> None:
    """And a tool whose state alone changes stands where that puts it."""
    told = [replace(tool, description="Play a song.") if tool.name == "push_files" else tool for tool in TOOLS]
    assert names(finder.find(told, ToolQuery("play a song")))[0] == "github/push_files"
    assert finder.find(TOOLS, ToolQuery("play a song")).no_match
    blocked = [replace(tool, blocked=tool.name == "read_file") for tool in TOOLS]
    assert "filesystem/read_file" not in names(finder.find(blocked, ToolQuery("read a file")))
    assert names(finder.find(TOOLS, ToolQuery("read a file")))[0] == "filesystem/read_file"


def test_names_in_any_script_are_found(finder: Finder) -> None:
    """Umlauts, Cyrillic, Chinese, an emoji; a tool without any word does no harm."""
    tools = [
        Tool("s", "größe_ändern", "Ein Bild skalieren."),
        Tool("s", "прочитать_файл", "Прочитать файл с диска."),
        Tool("s", "搜索文件", "在磁盘上搜索文件。"),
        Tool("s", "🎉"),
        *TOOLS,
    ]
    assert names(finder.find(tools, ToolQuery("GRÖSSE ändern", mode="keyword")))[0] == "s/größe_ändern"
    assert names(finder.find(tools, ToolQuery("прочитать файл")))[0] == "s/прочитать_файл"
    assert names(finder.find(tools, ToolQuery("搜索文件")))[0] == "s/搜索文件"
    assert names(finder.find(tools, ToolQuery("🎉")))[0] == "s/🎉"


def test_nothing_is_found_among_nothing(finder: Finder) -> None:
    """No tools, none in scope, none that a filter admits; a blank request is an error."""
    assert finder.find([], ToolQuery("read a file")) == ToolResults([], 0, 0)
    nobody = Scope(include_servers=())
    assert finder.find(TOOLS, ToolQuery("read a file", scope=nobody)) == ToolResults([], 0, 0)
    found = finder.find(TOOLS, ToolQuery("read a file", filters=Filters(servers=("nowhere",))))
    assert (found.no_match, found.guess, found.searched) == (True, None, len(TOOLS))
    with pytest.raises(Invalid, match="blank"):
        finder.find(TOOLS, ToolQuery(" \n"))
