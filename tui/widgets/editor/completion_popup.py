"""What may stand at the cursor, to be chosen from."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset as Place
from textual.geometry import Size
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from planner.editor import Offer

ROWS = 8
WIDTH = 62
MIN_WIDTH = 44


class OfferList(OptionList, can_focus=False):
    """The list itself, which the keys of the text steer."""


class CompletionPopup(Vertical):
    """A list in front of the text. It is steered from there, or by clicks."""

    class Selected(Message):
        """Posted when an offer is chosen."""

        def __init__(self, offer: Offer) -> None:
            super().__init__()
            self.offer = offer

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._offers: Sequence[Offer] = ()

    def compose(self) -> ComposeResult:
        """The offers, and a sentence on the one that is chosen."""
        yield OfferList(compact=True)
        yield Static("", markup=False)

    @property
    def chosen(self) -> Offer | None:
        """The one that would be taken."""
        at = self.query_one(OfferList).highlighted
        return self._offers[at] if self.display and at is not None and at < len(self._offers) else None

    def show(self, offers: Sequence[Offer], cursor: Place, screen: Size) -> None:
        """Show offers below a place of the screen, or above it where there is more room."""
        self._offers = offers
        choices = self.query_one(OfferList)
        width = max(MIN_WIDTH, min(WIDTH, screen.width - 2, max(_width(offer) for offer in offers) + 4))
        choices.set_options(Option(_row(offer, width - 4)) for offer in offers)
        choices.highlighted = 0
        rows = min(len(offers), ROWS)
        about = any(offer.about for offer in offers)
        height = rows + 2 * about
        below = screen.height - 1 - cursor.y - 1
        top = cursor.y + 1 if below >= height else max(1, cursor.y - height)
        left = max(0, min(cursor.x - 1, screen.width - width - 1))
        self.styles.width, self.styles.height = width, height
        choices.styles.height = rows
        self.query_one(Static).display = about
        self.styles.offset = (left, top)
        self.display = True
        self._about()

    def hide(self) -> None:
        self.display = False

    def steer(self, key: str) -> None:
        """Go up and down."""
        choices = self.query_one(OfferList)
        page = ROWS - 1
        by = {"up": -1, "down": 1, "pageup": -page, "pagedown": page}[key]
        at, last = choices.highlighted or 0, len(self._offers) - 1
        if abs(by) == 1:
            choices.highlighted = (at + by) % (last + 1)
        else:
            choices.highlighted = max(0, min(last, at + by))

    def on_option_list_option_highlighted(self) -> None:
        """Say something of the one that is chosen."""
        self._about()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the one that was clicked."""
        event.stop()
        if event.option_index < len(self._offers):
            self.post_message(self.Selected(self._offers[event.option_index]))

    def _about(self) -> None:
        chosen = self.chosen
        words = "" if chosen is None else " ".join(chosen.about.split())
        self.query_one(Static).update(words, layout=False)


def _width(offer: Offer) -> int:
    return len(offer.label) + len(offer.detail) + 2


def _row(offer: Offer, width: int) -> Text:
    label = Text(f" {offer.label}", "" if offer.fits else "dim")
    label.truncate(width, overflow="ellipsis")
    room = width - label.cell_len - 2
    if offer.detail and room > 3:
        detail = Text(offer.detail, "dim italic")
        detail.truncate(room, overflow="ellipsis")
        label.append(" " * (width - label.cell_len - detail.cell_len)).append_text(detail)
    label.no_wrap = True
    return label
