"""Whether a tool's name has another word for what a request wants done, by meaning: `halt the song` for `stop_song`.

Two words alone say little: their cosine is .31 for wire and transfer, .43 for sing and play. The request says more:
with a synonym in the word's place it means the same. How near the two requests are depends on what else stands in them,
so it is read beside what other words come to in that place, of which none is a synonym of all that people ask for: a
word agrees where it is `AGREED` of their deviations above their mean. Of 45 pairs written for it, 16 synonyms and 29
that are none, 8 synonyms are at 3.2 and more, and none of the others above 2.8. Opposites stand in the same places as
synonyms, so `_OPPOSITES` are left out. It finds what hardly means anything else: that who reserves a room books it is,
among all that one may do with a room, beyond the default model (1.0).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""Gives the vectors of some requests, (requests, dimension), each of length 1."""

AGREED: Final = 3.0
"""Deviations above the mean of other words from which on a word agrees."""

_VERBS: Final = (
    "get show list find open close read write send receive buy sell make create delete clean paint move copy"
    " print play record translate count measure check repair lock burn sing follow compare describe explain"
    " order rate track name build test start stop join leave"
)
_PAIRS: Final = (
    "open/close buy/sell lock/unlock start/stop begin/end send/receive push/pull enable/disable add/remove"
    " create/delete show/hide increase/decrease upload/download import/export login/logout hire/fire"
    " encrypt/decrypt accept/reject join/leave mute/unmute follow/unfollow load/save connect/disconnect"
    " raise/lower compress/extract subscribe/unsubscribe mount/unmount pack/unpack win/lose first/last"
    " input/output"
)
_OPPOSITES: Final = frozenset(frozenset(pair.split("/")) for pair in _PAIRS.split())


def with_synonym(request: str, verb: str, names: Sequence[str], embed: Embed) -> str | None:
    """Return the one of the words of a tool's name that stands for the verb of a request; None where none does.

    Whoever calls has to see to it that the tool is for the thing that the request names: `reserve a flight` books no
    room.
    """
    place = re.compile(rf"\b{re.escape(verb)}\b", re.IGNORECASE)
    candidates = [name for name in names if frozenset((verb.lower(), name)) not in _OPPOSITES]
    plain = [other for other in _VERBS.split() if other != verb.lower() and other not in names]
    if not candidates:
        return None
    texts = [request, *(place.sub(other, request, count=1) for other in (*candidates, *plain))]
    vectors = embed(texts)
    cosines = np.vecdot(vectors[1:].astype(np.float64), vectors[0].astype(np.float64))
    mine, rest = cosines[: len(candidates)], cosines[len(candidates) :]
    best = int(np.argmax(mine))
    return candidates[best] if mine[best] >= rest.mean() + AGREED * rest.std() else None
