"""The documents of registries, page by page: what is read of each form, what is left out, and where reading ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from infospace.core.errors import Invalid
from infospace.tools.mcp.catalogue.json_members import without_unreadable_members
from infospace.tools.mcp.registries.documents import Form, ReadRegistry, WrongEntry, read_registry, sentences
from infospace.tools.mcp.registries.listed_server import Checksum
from infospace.tools.mcp.registries.update import _address, _name

NPM = {"registryType": "npm", "identifier": "w", "version": "1"}
LONG = "9" * 5_000
"""A number that no reader of JSON reads."""


def server(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "packages": [NPM], **members}


def official(body: Any, **told: Any) -> dict[str, Any]:
    """Return an entry of which the official registry tells something."""
    return {"server": body, "_meta": {"io.modelcontextprotocol.registry/official": told}}


def packages(*names: str) -> list[dict[str, Any]]:
    return [{"package": {"name": name, "version": "1"}} for name in names]


class Pages:
    """Answers with these pages in turn; `asked` has the parameters of each, `told` how many servers there were."""

    def __init__(self, *pages: Any) -> None:
        self.asked: list[dict[str, str]] = []
        self.told: list[int] = []
        self._pages = [page if isinstance(page, bytes) else json.dumps(page).encode() for page in pages]

    def read(self, paged: Callable[[Form], bool] = lambda _: True, base: str | None = None) -> ReadRegistry:
        """Read them."""

        def ask(params: Mapping[str, str]) -> bytes:
            self.asked.append(dict(params))
            return self._pages[len(self.asked) - 1]

        return read_registry(ask, base=base, paged=paged, local=False, on_page=self.told.append)


def test_a_list_is_asked_for_page_by_page() -> None:
    """By the cursor that each names, in either spelling; where it is a file, one page is all."""
    pages = Pages(
        {"servers": [server("a/1")], "metadata": {"nextCursor": "c"}},
        {"servers": [server("a/2")], "metadata": {"next_cursor": "d"}},
        {"servers": [server("a/3")], "metadata": {"nextCursor": ""}},
    )
    found = pages.read()
    assert (found.form, list(found.servers), found.wrong, found.pages) == ("mcp", ["a/1", "a/2", "a/3"], [], 3)
    assert pages.asked == [{}, {"cursor": "c", "limit": "100"}, {"cursor": "d", "limit": "100"}]
    assert pages.told == [1, 2, 3]
    one = {"servers": [server("a/1")], "metadata": {"nextCursor": "c"}}
    assert Pages(one).read(lambda form: form != "mcp").pages == 1
    for last in ({"servers": [], "metadata": {"nextCursor": "c"}}, {"servers": [server("a/1")], "metadata": 3}):
        assert Pages(last).read().pages == 1
    assert Pages({**one, "metadata": {"nextCursor": "c" * 4_000}}, {"servers": []}).read().pages == 2


def test_a_search_of_npm_is_asked_for_from_where_it_ended() -> None:
    """Until there are as many as it says; where it does not say how many, one page is all."""
    pages = Pages(*({"objects": packages(*names), "total": 4} for names in ("ab", "c", "d")))
    found = pages.read(base="https://n")
    assert (found.form, list(found.servers), found.pages) == ("npm", ["a", "b", "c", "d"], 3)
    assert pages.asked == [{}, {"from": "2", "size": "100"}, {"from": "3", "size": "100"}]
    assert found.servers["a"].checksum == Checksum("npm", "https://n/a/1", "")
    assert Pages({"objects": packages("a"), "total": 1}).read().servers["a"].checksum is None
    for total in (True, -1, "3", 1.5, None, 0):
        assert Pages({"objects": packages("a"), "total": total}).read().pages == 1


@pytest.mark.parametrize(
    ("pages", "message", "hint"),
    [
        ([[]], "it is [], not an object", None),
        (
            [{"a": 1}],
            "it is the document of no registry",
            "an object with `servers` (MCP registry), `objects` (npm search), or `packages` or `remotes` (server.json)",
        ),
        ([b'{"servers": ['], "it ends inside an array opened at line 1, column 13: it seems cut off", "send all of it"),
        ([b"\xff"], "it is not UTF-8 text: byte 0xff at position 0", "save it as UTF-8"),
        (
            [f'{{"servers": [{{"a": {LONG}}}], "x": {LONG}}}'.encode()],
            "it cannot be read at /x: a whole number has 5,000 digits",
            "at most 4,300 digits are read",
        ),
        (
            [{"servers": [server("a/1")], "metadata": {"nextCursor": 3}}],
            "its `nextCursor` is 3, not a short text",
            None,
        ),
        (
            [{"servers": [server("a/1")], "metadata": {"nextCursor": "c" * 4_001}}],
            f'its `nextCursor` is "{"c" * 58}…, not a short text',
            None,
        ),
        (
            [{"servers": [server(name)], "metadata": {"nextCursor": "c"}} for name in ("a/1", "a/2")],
            "its list does not end: the page 'c' comes again",
            None,
        ),
        (
            [{"servers": [server("a/1")], "metadata": {"nextCursor": "c"}}, {"objects": packages("a")}],
            "its page 2 is of another form than the first",
            None,
        ),
        (
            [{"servers": [server("a/1")], "metadata": {"nextCursor": "c"}}, server("a/2")],
            "it is the document of no registry",
            "an object with `servers` (MCP registry), `objects` (npm search), or `packages` or `remotes` (server.json)",
        ),
        (
            [{"objects": packages("a"), "total": 9}] * 2,
            "its list does not end: its page 2 has nothing that did not come before",
            None,
        ),
        ([{"servers": [3] * 20_001}], "it lists more than 20,000 servers", None),
    ],
)
def test_a_list_that_is_none_or_does_not_end_is_refused(pages: list[Any], message: str, hint: str | None) -> None:
    with pytest.raises(Invalid) as refused:
        Pages(*pages).read()
    assert (refused.value.message, refused.value.hint) == (message, hint)


def test_twenty_thousand_entries_are_read() -> None:
    """Whether they can be used or not."""
    assert len(Pages({"servers": [3] * 20_000}).read().wrong) == 20_000


def test_of_the_versions_of_a_server_the_latest_is_taken() -> None:
    """Else the first; what is deleted, or is not the latest, is passed over without a word."""
    found = Pages(
        {
            "servers": [
                official(server("a/1", version="1"), isLatest=False),
                official(server("a/1", version="2"), isLatest=True),
                {"server": server("a/1", version="3")},
                server("a/2", version="1"),
                official(server("a/2", version="2"), is_latest=True),
                official(server("a/2", version="3"), status="active"),
                server("a/3", version="1"),
                server("a/3", version="2"),
                official(server("a/4"), status="deleted"),
                {"server": server("a/5", status="deleted")},
                official(server("a/6"), is_latest=False),
                {"server": server("a/7"), "_meta": {"io.modelcontextprotocol.registry/official": 3}},
                {"server": server("a/8"), "_meta": 3},
            ]
        }
    ).read()
    assert {name: one.version for name, one in found.servers.items()} == {
        "a/1": "2",
        "a/2": "2",
        "a/3": "1",
        "a/7": "",
        "a/8": "",
    }
    assert found.wrong == []


def test_an_entry_that_is_wrong_is_told_by_its_name_or_its_place() -> None:
    """With what would have fitted; the others are read."""
    name = "n" * 130
    found = Pages(
        {
            "servers": [{"server": 3}, 3, {"server": {"name": name}}, {"server": {"name": 3}}, server("a/1")],
            "metadata": {"nextCursor": "c"},
        },
        {"servers": ["x"]},
    ).read()
    assert found.wrong == [
        WrongEntry("entry 1 of page 1", "it is 3, not an object"),
        WrongEntry("entry 2 of page 1", "it is 3, not an object"),
        WrongEntry("n" * 120, f"'{name[:99]} cannot be a server's name (such as io.github.ann/weather)"),
        WrongEntry("entry 4 of page 1", "its `name` is 3, not a text"),
        WrongEntry("entry 1 of page 2", 'it is "x", not an object'),
    ]
    odd = Pages({"objects": [{"package": 3}, {"package": {"name": "x", "version": 1}}, *packages("a")]}).read()
    assert (list(odd.servers), odd.wrong) == (
        ["a"],
        [
            WrongEntry("entry 1 of page 1", "it is 3, not an object"),
            WrongEntry("x", "its `version` is 1, not a text"),
        ],
    )
    single = Pages({"remotes": [], "name": "a/x"}).read()
    assert (single.form, single.servers) == ("server", {})
    assert single.wrong == [
        WrongEntry("a/x", "it has neither `packages` nor `remotes`, so nothing says how it is connected")
    ]


@pytest.mark.parametrize(
    ("page", "names", "why"),
    [
        (f'{{"servers": [{{"a": {LONG}}}, {json.dumps(server("a/1"))}]}}', ["a/1"], "at /a"),
        (f'{{"objects": [{json.dumps(packages("a")[0])}, {{"package": {LONG}}}], "total": 2}}', ["a"], "at /package"),
    ],
)
def test_an_entry_that_no_reader_reads_is_left_out_alone(page: str, names: list[str], why: str) -> None:
    found = Pages(page.encode()).read()
    assert list(found.servers) == names
    (wrong,) = found.wrong
    assert wrong.why == f"it cannot be read {why}: a whole number has 5,000 digits"
    assert wrong.name == ("entry 1 of page 1" if why == "at /a" else "entry 2 of page 1")


def test_what_is_left_out_is_told_in_sentences() -> None:
    """As many as are asked for, then how many more."""
    wrong = [WrongEntry(f"n{number}", "it is so") for number in range(1_203)]
    assert list(sentences(wrong[:2], 2)) == ["'n0' is left out: it is so", "'n1' is left out: it is so"]
    assert list(sentences(wrong, 1)) == ["'n0' is left out: it is so", "1,202 more entries are left out"]
    assert list(sentences(wrong[:3], 1)) == ["'n0' is left out: it is so", "2 more entries are left out"]
    assert list(sentences(wrong[:2], 1)) == ["'n0' is left out: it is so", "1 more entry is left out"]
    assert list(sentences([WrongEntry("n" * 200, "it is so")], 1)) == [f"{repr('n' * 200)[:120]} is left out: it is so"]


DEEP = "[" * 20_000 + "]" * 20_000
TOO_DEEP = "it is nested more than 200 deep"


@pytest.mark.parametrize(
    ("text", "keys", "rest"),
    [
        ('{"a": {"b": 1, "c": D, "d": 2}}', ["c"], {"a": {"b": 1, "c": None, "d": 2}}),
        ('{"a": {"b": D}}', ["b"], {"a": {"b": None}}),
        ('{"a": [1, D, 2, D]}', [1, 3], {"a": [1, None, 2, None]}),
        ('{"a": [D]}', [0], {"a": [None]}),
        ('{"a": [ ], "b": D}', [], None),
        ('{"x": {"a": [D]}, "y": "a", "a": [1, D]}', [1], None),
        ('{"x": ["a", ":"], "a": {"q\\"}": D}}', ['q"}'], {"x": ["a", ":"], "a": {'q"}': None}}),
        ('{"a": {"b": {"c": [D]}, "e": [{"f": 1}]}}', ["b"], {"a": {"b": None, "e": [{"f": 1}]}}),
        ('{"\\u0061": [D]}', [0], {"a": [None]}),
        ('{"a": 1, "a": [D]}', [0], {"a": [None]}),
        ('{"a": [D], "b": {"a": [D]}}', [0], None),
        ('{"b": [1, 2]}', [], {"b": [1, 2]}),
        ('{"a": [D, }', [0], None),
    ],
)
def test_the_members_that_cannot_be_read_are_told_apart(text: str, keys: list[Any], rest: Any) -> None:
    """By their keys, or their numbers; lines and columns of all else stay."""
    written = text.replace("D", f"{DEEP}\n")
    left, unreadable = without_unreadable_members(written, "a")
    assert [one.key for one in unreadable] == keys
    assert [one.error.message for one in unreadable] == [TOO_DEEP] * len(keys)
    assert [len(line) for line in left.split("\n")] == [len(line) for line in written.split("\n")]
    if rest is not None:
        assert json.loads(left) == rest


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://x.org", "https://x.org/v0/servers"),
        ("https://x.org/v0", "https://x.org/v0/servers"),
        ("https://x.org/v0.1/", "https://x.org/v0.1/servers"),
        ("https://x.org/v0?a=b", "https://x.org/v0?a=b"),
        ("https://x.org/v1/", "https://x.org/v1/"),
        ("https://x.org:8/", "https://x.org:8/v0/servers"),
        ("http://localhost/", "http://localhost/v0/servers"),
        ("http://127.0.0.1:9/v0", "http://127.0.0.1:9/v0/servers"),
        ("https://github.com/a/b.git", "https://raw.githubusercontent.com/a/b/HEAD/server.json"),
        ("https://github.com/a/b/", "https://raw.githubusercontent.com/a/b/HEAD/server.json"),
        ("https://github.com/a/b/raw/main/s.json", "https://raw.githubusercontent.com/a/b/main/s.json"),
    ],
)
def test_where_a_registry_is_really_read(written: str, read: str) -> None:
    assert _address(written) == read


@pytest.mark.parametrize(
    ("address", "message", "hint"),
    [
        ("http://x.org", "nothing protects 'http://x.org' on its way", "https://…"),
        ("ftp://x", "'ftp://x' is not a URL", "https://…, or the path of a file"),
        ("https:///a", "'https:///a' is not a URL", "https://…, or the path of a file"),
        *(
            (
                f"https://{user}@x",
                "the URL of a registry holds a name or a password, and would be kept",
                "a URL without them",
            )
            for user in ("u", ":p")
        ),
    ],
)
def test_an_address_that_is_none_says_what_would_be_one(address: str, message: str, hint: str) -> None:
    with pytest.raises(Invalid) as refused:
        _address(address)
    assert (refused.value.message, refused.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/a/list.json", "list"),
        ("/a/my list (1).json", "my-list-1"),
        ("https://x.org:9/v0", "x.org"),
        ("https://raw.githubusercontent.com/a/b/HEAD/server.json", "a-b"),
        ("/a/ä ö.json", "registry"),
        (f"/a/{'x' * 100}.json", "x" * 80),
    ],
)
def test_a_registry_is_called_by_where_it_is(address: str, name: str) -> None:
    assert _name(address) == name
