"""Scripts without blanks between words are indexed and looked for by their pairs of characters."""

from __future__ import annotations

import pytest

from infospace.data.cjk import is_single, paired, parts, word_pattern


@pytest.mark.parametrize(
    ("text", "indexed", "looked_for"),
    [
        ("全文検索", " 全文 文検 検索 索 ", ["全文", "文検", "検索"]),
        ("索", " 索 ", ["索"]),
        ("BM25で検索v2", "BM25 で検 検索 索 v2", ["BM25", "で検", "検索", "v2"]),
        ("plain", "plain", ["plain"]),
        ("กิน", " กิน น ", ["กิน"]),
    ],
)
def test_a_run_is_its_pairs_and_its_last_character(text: str, indexed: str, looked_for: list[str]) -> None:
    """What stands between runs stays as it is; a mark belongs to the character that it stands upon."""
    assert paired(text) == indexed
    assert list(parts(text)) == looked_for


@pytest.mark.parametrize(("part", "single"), [("索", True), ("กิ", True), ("検索", False), ("a", False), ("索a", False)])
def test_a_single_character_is_looked_for_by_what_begins_with_it(part: str, single: bool) -> None:
    assert is_single(part) is single


def test_a_word_is_of_letters_digits_and_the_marks_upon_them() -> None:
    assert word_pattern().findall("re-ranking_2 e\u0301te\u0301, กิน") == ["re", "ranking", "2", "e\u0301te\u0301", "กิน"]
