"""Whether a word is plainly another one, written in another case, with other separators, or a letter or two apart.

`nearest` gives what is worth a hint; here is what is sure enough to be written in its place. Words of names are
compared one by one: `delete_user` is as far from `get_user` as can be, however many letters the two share.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")

_WORDS = """
    accept access account activate add address after allow amount analyse analyze and answer any append apply
    approve archive arrive article ask asset attach author average avg back ban base batch before begin bet bid
    bill block blog board book bool bottom bound box break build bus buy cab call can cancel car card cart case cast
    cat change chart chat check city class clean clear clone close code column comment commit company compare
    complete compress compute connect contact content convert copy cost count country create credit crop curl
    currency cut data date day days debit decline decode decompress decrease decrement decrypt delete deliver
    deny deploy deposit detach dial disable disconnect dislike dismiss display document down download draft draw
    drive drop dump edit eject email empty enable encode encrypt end enter entry eq estimate evaluate event
    except exclude execute exit expand expire export extend extract fail false fetch field file fill filter find
    first fix flag flat flight float flush fold follow food for force form format forward free freeze from fund
    ge get give go grant group gt hash hide high hike hint hold host hotel hour id ignore image implement import
    improve in include increase increment index infer info insert inspect install int integrate invalid invert
    invite invoke issue item join keep key kill label last launch le leave left length less lift like limit line
    link list listen load local locate location lock log login logout long look low lower lt mail main make map
    mark match max mean median member merge message min minute mode model month more move mute name ne near new
    news next none note null number of off old open option or order out output owner pack page paint parse
    part passport password past paste path pause pay pet phone pick pin place plan play point poll pool pop port post
    predict prepend present press preview price print private product program project promote publish pull purchase
    purge push put query quit quote raise rank rate read reboot receive record recover redo reduce refill
    refresh refund refuse regain reject relate release reload relocate remain remark remind remove rename rent
    repay repeat replace reply report repost request require resend reserve reset resize resolve respond rest
    restart restore result resume retain retire retry return revert review revise revoke reward ride right road
    role roll room rotate round route row run sale save scale scan scene score screen search second secure see
    seed seek select sell send set share shift ship shop short show shut sign size skip sleep slice slow sort
    source spend split spot stage star start stat state status stay step stop store stream string strip submit
    subscribe sum summary suspend swap switch sync tag tail take talk target task taxi team tell temp term test
    text this thread ticket time title to today token top total trace track trade train transfer transform
    translate trash travel trim trip true turn type unarchive unban unblock undo unfollow unfreeze uninstall
    unique unlink unload unlock unmute unpack unpin unset unsubscribe untag unwatch unzip up update upgrade
    upload upper use user validate value verify version view visit vote wait wake walk warn watch weather week
    weight when where width will with work write xor year zip zoom
"""
ORDINARY = frozenset(_WORDS.split())
"""Words that names of tools, arguments and fields are made of: whoever wrote one of them meant it."""


def is_misspelling(text: str, suggestion: str, most: int = 2) -> bool:
    """Whether a word is plainly meant to be another one, which it may equal; `most` letters apart.

    >>> is_misspelling("getUser", "get_user"), is_misspelling("serch_notes", "search_notes")
    (True, True)
    >>> is_misspelling("delete_user", "get_user"), is_misspelling("min_price", "max_price")
    (False, False)
    """
    ours, theirs = words_of(text), words_of(suggestion)
    if "".join(ours) == "".join(theirs):
        return bool(ours)
    if len(ours) == len(theirs):
        return all(one == other or _slip(one, other, most) for one, other in zip(ours, theirs, strict=True))
    return not ORDINARY.issuperset(ours) and _slip("".join(ours), "".join(theirs), most)


def closest_spelling(text: str, candidates: Iterable[str]) -> str | None:
    """Return the one candidate that a word is plainly meant to be; None where there is none, or several."""
    return _closest_spelling(text, tuple(candidates))


@lru_cache(maxsize=512)
def _closest_spelling(text: str, candidates: tuple[str, ...]) -> str | None:
    likely = [candidate for candidate in candidates if is_misspelling(text, candidate)]
    same = [one for one in likely if "".join(words_of(one)) == "".join(words_of(text))]
    exact = [one for one in likely if one == text]
    best = exact or same or likely
    return best[0] if len(best) == 1 else None


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters: those of `getUserById`, `get_user_by_id` and `get-user-by-id`."""
    return tuple(word.casefold() for word in _WORD.findall(name))


def _slip(text: str, suggestion: str, most: int) -> bool:
    """Whether a word that is none by itself is a letter from another one, or two of a long one."""
    if text in ORDINARY or text.isdigit() or suggestion.isdigit():
        # A plural is one letter more, and the same word.
        return text not in ("", "a") and (text + "s" == suggestion or suggestion + "s" == text)
    if len(text) < 2 or len(suggestion) < 2:
        return text[:1] == suggestion[:1] and len(text) + len(suggestion) < 4
    apart = _distance(text, suggestion)
    shorter = min(len(text), len(suggestion))
    if apart == 1:
        return text[0] == suggestion[0] or shorter > 3 or (suggestion[1:] == text and shorter > 2)
    replaced = len(text) == len(suggestion) and sum(map(operator.ne, text, suggestion)) == apart
    # Two letters that are only others make another word, as `passport` is none that was meant to be `password`.
    return apart == 2 <= most and shorter > 7 and text[0] == suggestion[0] and not replaced


def _distance(one: str, other: str) -> int:
    """Return how many letters have to be put in, left out, replaced or swapped with the next; 3 for more than two."""
    if abs(len(one) - len(other)) > 2 or len(set(one) ^ set(other)) > 4:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        following = [at]
        for place, other_letter in enumerate(other, start=1):
            cost = min(row[place] + 1, following[-1] + 1, row[place - 1] + (letter != other_letter))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == other_letter:
                cost = min(cost, before[place - 2] + 1)
            following.append(cost)
        before, row = row, following
    return min(row[-1], 3)
