"""Runs a plan whose steps compute and send in turn, in processes that are killed at random moments, until it ends.

The moments are any time, during any computation, and just after a call of the tool has had its effect.

Arguments: the space, a folder, a seed, how often to kill. The folder gets `sent`, a line for each call of the tool,
`told`, one for each step that a listener heard had ended, and `drawn`, a byte for each computation.
Written at the end: how often it was killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from infospace import Args, Context, Note, Space, open_space, primitive
from infospace.contract.catalogue import PackageProvider
from infospace.tools.local import LocalTools
from planner.execute.run import Run
from planner.execute.start import Prepared, prepare
from planner.journal.events import StepFinished
from planner.journal.result import RunResult
from planner.lifecycle.resume import answer, pending_of, resume

FOLDER = Path()
DOOM: dict[str, int] = {}
"""After how many computations, or calls, this process kills itself."""

ROUNDS, COMPUTED = 5, 30
MOST_SECONDS = 0.2


def come_to(what: str) -> None:
    """Die where this is what the process is to die at."""
    if what in DOOM:
        DOOM[what] -= 1
        if not DOOM[what]:
            os.kill(os.getpid(), signal.SIGKILL)


class Draw(Args):
    """Arguments of `draw`."""

    value: Any


@primitive(effect="pure", waits=False, examples=[{"type": "draw", "value": 1, "out": "$n"}])
async def draw(args: Draw, context: Context) -> Note[Any]:
    """Draw a number: it comes out otherwise each time, so that a computation that was lost and done again shows."""
    with (FOLDER / "drawn").open("a", encoding="utf-8") as file:
        file.write(".")
    come_to("draw")
    return context.note([random.randrange(10**9), str(args.value)[:20]])  # noqa: S311


def plan() -> dict[str, Any]:
    """Return the plan: some computations one after the other, then a call with the last, and so on."""
    steps: list[Any] = []
    for number in range(ROUNDS):
        steps.append({"type": "draw", "value": number, "out": "$x"})
        steps += [{"type": "draw", "value": "${x}", "out": "$x"} for _ in range(COMPUTED)]
        steps.append({"type": "outside/send", "arguments": {"text": "$x"}, "out": "$s"})
    return {"goal": "proof", "steps": steps, "result": "$x"}


def furnish(space: Space) -> None:
    """Put the primitive and the tool into a space."""
    module = ModuleType("drawing")
    module.draw = draw  # type: ignore[attr-defined]
    space.catalogue.add(PackageProvider("drawing", module))
    outside = LocalTools("outside")

    @outside.tool()
    async def send(text: Any) -> str:
        """Send something."""
        with (FOLDER / "sent").open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(text)}\n")
        come_to("send")
        return "sent"

    space.tools.add(outside)


def tell(event: object) -> None:
    """Write down that a step has ended, which its listener may act upon."""
    if isinstance(event, StepFinished):
        with (FOLDER / "told").open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([event.row.position, event.row.resource])}\n")


def was_sent(run_space: Space, run: str, position: str) -> bool:
    """Look outside whether a call was made: its argument is what the journal says of the step before."""
    sent = (FOLDER / "sent").read_text(encoding="utf-8").splitlines() if (FOLDER / "sent").exists() else []
    with run_space.store.reading() as snapshot:
        [before] = [row for row in snapshot.steps(run) if row.position == str(int(position) - 1)]
        content = snapshot.get(str(before.resource)).content  # type: ignore[union-attr]
    return json.dumps(content) in sent


async def begin(space: Space) -> RunResult:
    """Check the plan, and run it."""
    prepared = prepare(space, plan())
    if not isinstance(prepared, Prepared):
        raise TypeError(prepared.problems)
    return await Run(space, prepared.plan, tell).run(prepared.bound)


async def to_the_end(space: Space) -> None:
    """Run the plan, or go on with it; what is in doubt is answered by looking outside."""
    with space.store.reading() as snapshot:
        runs = [row for row in snapshot.runs() if row.goal == "proof"]
    if runs and runs[0].status not in ("running", "suspended"):
        return  # it was killed after its end
    result = await (resume(space, runs[0].run, emit=tell) if runs else begin(space))
    while result.status == "suspended":
        with space.store.reading() as snapshot:
            asked, known = pending_of(snapshot.steps(str(result.run))), snapshot.answers(str(result.run))
        for one in asked:
            if one.answer_key not in known:
                done = was_sent(space, str(result.run), one.step)
                answer(space, str(result.run), one.step, {"result": "sent"} if done else "repeat")
        result = await resume(space, str(result.run), emit=tell)
    if result.status != "success":
        raise RuntimeError(result.reason)


def child(address: str) -> None:
    """Go on with the run, in a process of its own."""
    random.seed()
    with open_space(address) as space:
        furnish(space)
        (FOLDER / "begun").touch()
        asyncio.run(to_the_end(space))


def main() -> None:
    """Have children go on with the run, and kill them, until it has ended."""
    global FOLDER
    address, FOLDER, chance, most = sys.argv[1], Path(sys.argv[2]), random.Random(sys.argv[3]), int(sys.argv[4])  # noqa: S311
    kills = 0
    while True:
        (FOLDER / "begun").unlink(missing_ok=True)
        end = chance.choice(["time", "draw", "draw", "send"]) if kills < most else ""
        count = chance.randint(1, COMPUTED * 2 if end == "draw" else 2)
        process = os.fork()
        if not process:
            DOOM.update({end: count})
            try:
                child(address)
            except BaseException as error:  # noqa: BLE001
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        if end == "time":
            until = time.monotonic() + 30
            while not (FOLDER / "begun").exists() and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(chance.random() * MOST_SECONDS)
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                sys.exit(1)
            break
        kills += 1
    sys.stdout.write(f"{kills}\n")


if __name__ == "__main__":
    main()
