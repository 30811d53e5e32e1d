"""The door to sessions for Python: callers without an event loop give steps, and look at what is bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType

from infospace.core.errors import Invalid, NotFound
from infospace.core.json_types import JSON
from infospace.core.position import Position
from infospace.core.resources import Collection, Resource, is_resource, text_of
from infospace.data.json_text import dump, read_json
from infospace.data.paths import nearest
from infospace.data.result import StepResult, truncate
from infospace.space import Space
from infospace.tools.builtin import SERVER
from planner.execute.arguments import Place, Resolver
from planner.execute.variables import Scope, Unbound
from planner.journal.context_after_step import data_of
from planner.journal.events import Emit
from planner.journal.result import RunResult, answer_of
from planner.journal.suspension import Pending
from planner.language.problems import Problem
from planner.language.references import NAME, whole_reference
from planner.metatools.compat.discover import DISCOVER, Discover, DiscoverResult, Discovery
from planner.parse.saved_plans import load_plan
from planner.parse.steps import SAVED
from planner.sessions.bindings import living_bindings
from planner.sessions.loop_thread import LoopThread
from planner.sessions.session import Session, ignore_event


class BlockingSession:
    """A session for callers without an event loop. Calls from several threads queue; each waits for its own.

    It is one session: when that has ended, here or elsewhere, calls are a Conflict, also where its name is another's.

    Used with `with`: one by name stays open afterwards, one without a name is ended (cancelled where an error leaves
    the block); one that waits for an answer goes on waiting.
    """

    def __init__(self, space: Space, session: Session, emit: Emit = ignore_event) -> None:
        self._space = space
        self._session = session
        self._emit = emit
        self._thread = LoopThread()
        self._discovery = Discovery(space)

    @property
    def id(self) -> str | None:
        """The run that it is, None before its first steps."""
        return self._session.id or self._session.run

    # Steps

    def step(self, step: Mapping[str, JSON]) -> StepResult:
        """Check one step against what is bound, run it, and return its answer, with `data`.

        A step that the check refuses has done nothing: `failed`, with all that is wrong in `reason`, and in
        `extra.problems`. One that waits is `suspended`, with what for in `extra.pending`. Raises Conflict while the
        session waits already, while another process runs steps of it, and when it has ended.
        """
        result = self._thread.run(self._session.play([_json(step)], self._emit))
        if result.status == "refused":
            return _refused(result.problems)
        return self._answer(result)

    # Tools

    def discover(self, query: str, limit: int = 10) -> DiscoverResult:
        """Find the tools that do what is asked for, best first: `found["matches"][0]["tool_name"]`.

        The same question is answered once in this conversation, until servers or their tools are others. Raises
        Invalid for a blank query, and for a limit that is not 1 to 50.
        """
        args: Discover = DISCOVER.validate({"query": query, "limit": limit})
        return self._discovery.discover(args.query, args.limit)

    def execute(self, name: str, arguments: Mapping[str, JSON] | None = None) -> StepResult:
        """Call a tool by its `tool_name`, as a step of the session: checked, asked about, recorded, as any step is.

        What the space itself can do is called too: `infospace/sort`. Raises what `step` raises.
        """
        values = dict(arguments or {})
        server, _, last = name.partition("/")
        return self.step({**values, "type": last} if server == SERVER and last else {"type": name, "arguments": values})

    # Plans

    def run(self, plan: JSON, inputs: Mapping[str, JSON] | None = None) -> RunResult:
        """Check a whole plan against what is bound, then run its steps as those of the session.

        `plan` is a document, or `plan:NAME` for a saved one. Its inputs are bound first, and its result is that of
        the outcome. Raises what `step` raises, and NotFound for a saved plan that is not there.
        """
        if isinstance(plan, str) and plan.startswith(SAVED):
            plan = load_plan(self._space, plan.removeprefix(SAVED))
        value = _json(dict(inputs or {}))
        assert isinstance(value, dict)  # noqa: S101 - that of an object is an object
        return self._thread.run(self._session.play_plan(_json(plan), value, self._emit))

    def answer(self, step: str, value: JSON = None) -> RunResult:
        """Answer a step that waits, and go on with the rest of its call; at a `wait` look again whether it is over.

        Raises NotFound for a step that does not wait, Invalid for an answer that does not fit, Conflict for a second.
        """
        return self._thread.run(self._session.answer(step, _json(value), self._emit))

    def resume(self) -> RunResult:
        """Go on with steps that were begun, in a process that ended; Conflict where there are none."""
        return self._thread.run(self._session.resume(self._emit))

    def end(self) -> RunResult:
        """End the session well; its name is free again. Raises Conflict while it waits, or when it has ended."""
        return self._thread.run(self._session.end(self._emit))

    def cancel(self) -> RunResult:
        """End the session where it stands, and break off what runs of it here. What it did stays."""
        self._thread.cancel()
        return self._thread.run(self._session.close("cancelled", "the session was cancelled", self._emit))

    # What is bound

    @property
    def bindings(self) -> dict[str, Resource]:
        """What the variables are bound to, by name; what was deleted since is left out."""
        return living_bindings(self._space, self._session.bindings())

    @property
    def pending(self) -> Sequence[Pending]:
        """What the session waits for."""
        return self._session.pending()

    def get_items(self, reference: str) -> list[Resource]:
        """Return the items of a Collection, such as `$hits`, in order. Raises Invalid for what is none."""
        return [*self._space.context().items(self._collection(reference))]

    def get_text(self, reference: str) -> str:
        """Return the text of what is bound, or of a place in it: `$x`, `$hits[0].title`."""
        resource = self._resource_or_place(reference)
        return text_of(resource.value) if isinstance(resource, Place) else self._space.context().text(resource)

    def get_json(self, reference: str) -> JSON:
        """Return the content of what is bound, or of a place in it; of a Collection the list of its items'."""
        resource = self._resource_or_place(reference)
        return resource.value if isinstance(resource, Place) else self._space.context().content(resource)

    def size(self, reference: str) -> int:
        """Return how many items a Collection has. Raises Invalid for what is none."""
        return len(self._collection(reference))

    def _collection(self, reference: str) -> Collection:
        resource = self._resource_or_place(reference)
        if isinstance(resource, Collection):
            return resource
        what = f"a {resource.kind}" if is_resource(resource) else "a place in content"
        raise Invalid(f"{reference} is {what}, and has no items", hint="get_json and get_text read it")

    def _resource_or_place(self, text: str) -> Resource | Place:
        reference = whole_reference(text)
        if reference is None:
            hint = f"did you mean '${text}'?" if NAME.fullmatch(text) else "such as '$x' or '$x.title'"
            raise Invalid(f"{text!r:.60} is not a variable", hint=hint)
        scope = Scope()
        scope.own = self._session.bindings()
        try:
            return Resolver(self._space.context(), scope).resolve_reference(reference)
        except Unbound:
            near = nearest(reference.name, scope.own)
            bound = ", ".join(f"${name}" for name in scope.own)
            hint = (
                f"did you mean ${near}?"
                if near
                else f"bound are {truncate(bound)}"
                if bound
                else "nothing is bound yet"
            )
            raise NotFound(f"${reference.name} is not bound", hint=hint) from None

    def _answer(self, result: RunResult) -> StepResult:
        """Return the answer of a call's only line."""
        pending: list[JSON] = [one.to_json() for one in result.pending]
        if pending:
            return StepResult("suspended", value=result.pending[0].question, extra={"pending": pending})
        rows = [row for row in result.steps if Position.parse(row.position).part is None]
        if not rows:
            return StepResult("failed", reason=result.reason)  # the session's budget did not allow that it begins
        answer, row = answer_of(rows[-1]), rows[-1]
        data = None
        if row.resource is not None and answer.status == "success":
            data, _ = data_of(self._space, row, result.steps)
        reason = answer.reason or (None if result.status == "stopped" else result.reason)
        return StepResult(
            answer.status,
            answer.resource_id,
            answer.value,
            data,
            reason,
            answer.extra,
            answer.started_at,
            answer.duration_ms,
            answer.error,
        )

    # Opening and leaving

    def __enter__(self) -> BlockingSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._session.name is None and self._session.run is not None:
                if error is not None:
                    self.cancel()
                elif not self.pending:
                    self.end()
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the session, which stays as it is; steps that run here are broken off."""
        self._thread.close()


def open_session(
    space: Space,
    name: str | None = None,
    *,
    head: Mapping[str, JSON] | None = None,
    inputs: Mapping[str, JSON] | None = None,
    approve: Sequence[str] = (),
    emit: Emit = ignore_event,
) -> BlockingSession:
    """Open a session of a space: the one of that name, with all that it has bound, or a new one.

    `head` stands before its first step, as in JSON Lines: `goal`, `inputs`, `result`, `budget`; one that is open
    already has had its own. The tools of `approve` may be called in it without asking. `emit` hears its events, in
    another thread. Raises Invalid for a name that cannot be, and for a head or inputs that the check refuses.
    """
    session = Session(space, name, None if head is None else _json(head), inputs, approve, once=True)
    blocking = BlockingSession(space, session, emit)
    if head is not None or inputs:
        problems = blocking._thread.run(session.begin())  # noqa: SLF001 - it is made here, and nobody has it yet
        if problems:
            blocking.close()
            raise Invalid(_errors_message(problems))
    return blocking


def _json(value: object) -> JSON:
    """Return a value as JSON has it; raises Invalid for what it has no form for."""
    return read_json(dump(value))  # type: ignore[arg-type]  # whatever a caller gives: `dump` says what is none


def _refused(problems: Sequence[Problem]) -> StepResult:
    problems_json: list[JSON] = [problem.to_json() for problem in problems]
    return StepResult(
        "failed", reason=f"refused: {_errors_message(problems)}", extra={"problems": problems_json}, error="refused"
    )


def _errors_message(problems: Sequence[Problem]) -> str:
    errors = [problem for problem in problems if problem.severity == "error"]
    return "; ".join(f"{problem.message} ({problem.hint})" if problem.hint else problem.message for problem in errors)
