"""Write a plan, or paste it; it is checked as you type, and run from here.

Problems are underlined, and listed beside the text: `^n` goes to the next, `^f` mends the one at the cursor where a
fix is known (`⚒`), `^z` undoes that. What may stand at the cursor is shown as you type: types, arguments, variables
(those that fit first), fields after `$x.`, arguments of tools; `tab` or `enter` takes it, `escape` closes the list,
`^space` asks for it.

`^r` runs it, `^t` only tries it (nothing stays), `^g` runs as far as the step at the cursor, `^l` one step further. A
run rests before a step with a breakpoint (`^b`, or a click on the line's number), and when a condition comes to hold
(`alt+w`: `$hits is empty`). It is suspended then: its variables are in the tab Run, `^r` goes on with it, and so can
Runs later, or `infospace resume`.

`alt+k` forks the run that the plan is of: what comes before the first step that you changed is taken as it was.
`escape` leaves the text, so that the keys of the other places work; `tab` and `shift+tab` go on from there.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.screens.compose.fork import Forking


class Compose(Forking):
    """Where plans are written."""

    FIRST = "Editor"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "run", "Run", tooltip="runs it; goes on with a run of it that rests, answers one that asks"),
        Binding("ctrl+t", "try", "Try", tooltip="computes and reads, and shows what it would write and call"),
        Binding("ctrl+g", "here", "Here", tooltip="runs as far as the step at the cursor, and that step"),
        Binding("ctrl+l", "next", "Step", tooltip="runs one step, then rests; shows what is bound"),
        Binding(
            "ctrl+b", "stop_here", "Break", tooltip="sets a breakpoint at the step at the cursor, or takes it away"
        ),
        Binding("ctrl+f", "fix", "Fix", tooltip="mends the problem at the cursor"),
        Binding("ctrl+n,alt+down", "problem(1)", "Next", show=False, tooltip="goes to the next problem"),
        Binding("alt+up", "problem(-1)", "Problem before", show=False, tooltip="goes to the problem before"),
        Binding("ctrl+o", "open", "Open", tooltip="opens a file, a saved plan, an example or an empty plan"),
        Binding("ctrl+s", "save", "Save", tooltip="saves it to a file, or as a saved plan"),
        Binding("ctrl+space,ctrl+@", "complete", "Complete", show=False, tooltip="shows what may stand at the cursor"),
        Binding(
            "alt+w",
            "stop_when",
            "Break when",
            show=False,
            tooltip="sets a breakpoint at a condition that comes to hold",
        ),
        Binding("alt+k", "fork_here", "Fork", show=False, tooltip="runs it anew from the first step that is changed"),
        Binding("alt+x", "halt", "Halt", show=False, tooltip="puts the run to rest; again, ends it at once"),
        Binding("alt+p", "watch", "In Plan", show=False, tooltip="opens the run in Plan"),
        Binding(
            "alt+l", "lay_out", "Lay out", show=False, tooltip="lays the text out anew; makes a plan of JSON Lines"
        ),
        Binding(
            "delete", "unstop", "Take away", show=False, tooltip="takes away the breakpoint at the cursor of the list"
        ),
    ]

    def is_action_available(self, action: str) -> bool:
        """Whether something can be done with the text, with what is wrong with it, or with its run."""
        draft = self.draft
        match action:
            case "try" | "save" | "lay_out":
                return bool(draft.text.strip())
            case "here" | "next" | "stop_here" | "stop_when":
                return bool(draft.steps)
            case "fix":
                return any(mark.problem.fix is not None for mark in draft.marks)
            case "problem(1)" | "problem(-1)":
                return bool(draft.marks)
            case "unstop":
                return bool(self.stops or self.when)
            case "halt":
                return self.goes_on or self.rests
            case "watch" | "fork_here":
                return self.run_id is not None
        return super().is_action_available(action)

    def key_label(self, binding: Binding) -> str:
        """Return the word that stands beside a key: a run that rests is gone on with, one that asks is answered."""
        if binding.action == "run" and (self.rests or self.asks):
            return "Go on" if self.rests else "Answer"
        return super().key_label(binding)
