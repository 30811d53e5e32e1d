"""The MCP server: its tools, resources and prompts, whatever it is spoken to over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError

from infospace.contract.tool_signature import format_errors
from infospace.core.errors import InfospaceError, NotFound
from infospace.data.json_text import dump
from infospace.data.paths import ABSENT
from planner.metatools.call_result import media_blocks
from planner.metatools.registry import META
from planner.parse.page import language_page
from planner.parse.vocabulary import short
from planner.server import client_calls, tools
from planner.server.approvals import MAX_QUESTIONS, OpenQuestion
from planner.server.core.tools import CORE
from planner.server.core.wording import plain
from planner.server.operations import Operations
from planner.server.protocol import completion, elicitation, resources
from planner.server.protocol.changes import NOTIFICATIONS, Changes
from planner.server.protocol.logs import ClientLogs
from planner.server.toolsets import instructions, names_in, operations_in
from planner.server.truncate import truncate_error

Context = ServerRequestContext[Any, Any]


def make_server(operations: Operations) -> Server[Any]:
    """Return a server of one space."""
    handlers, changes = _Handlers(operations), Changes(operations.space)
    server = _Server(
        "infospace",
        version=version("infospace"),
        instructions=instructions(operations.access.tools),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_subscriptions_listen=changes.listen,
        on_subscribe_resource=changes.resources.subscribe,
        on_unsubscribe_resource=changes.resources.unsubscribe,
        on_completion=handlers.complete,
        get_tool_input_schema=handlers.schema_with_headers,
        lifespan=changes.watching,
    )
    server.middleware.append(_schemas_in_one_order)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, handlers.logs.set_level)
    server.add_notification_handler("notifications/initialized", types.NotificationParams, changes.initialized)
    return server


async def _schemas_in_one_order(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Give the schemas of `tools/list` their keys in one order, whichever version of the protocol a client speaks.

    Each version writes an answer by a model of its own, and the models have different orders; the caches of prompts
    compare bytes.
    """
    result = await call_next(ctx)
    if ctx.method != "tools/list" or not isinstance(result, dict):
        return result
    listed = [{**tool, "inputSchema": dict(sorted(tool["inputSchema"].items()))} for tool in result["tools"]]
    return {**result, "tools": listed}


class _Server(Server[Any]):
    """A server that promises to tell of changes, over whatever it is spoken to."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or NOTIFICATIONS, experimental_capabilities, extensions
        )


class _Handlers:
    """What answers each method. What a caller can mend is a tool's error; only faults of the protocol are MCPErrors."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self.logs = ClientLogs()

    async def list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        sets = self._operations.access.tools
        results = [
            _tool(tool.name, tool.description, tool.listed, tool.read_only, tool.open_world)
            for tool in operations_in(sets).values()
        ]
        names = names_in(sets)
        schema = tools.discover_schema(self._operations) if tools.DISCOVER_NOTES in names else None
        if schema is not None:
            schema = _without_false(schema)
            results.append(_tool(tools.DISCOVER_NOTES, tools.DISCOVER_SAYS, schema, read_only=True))
        for meta in (meta_tool for meta_tool in META.values() if meta_tool.name in names):
            calls = meta.name == client_calls.EXECUTE
            schema = _without_false(meta.brief)
            results.append(_tool(meta.name, meta.description, schema, read_only=not calls, open_world=calls))
        for name, tool in client_calls.direct_tools(self._operations).items():
            message, schema = client_calls.tool_description(tool), dict(tool.input_schema)
            results.append(_tool(name, message, schema, tool.read_only, open_world=True, destructive=tool.destructive))
        return types.ListToolsResult(tools=results)

    def schema_with_headers(self, name: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool whose arguments may have to stand in the headers of a call, too.

        Only servers' own tools can ask for that; of ours there is nothing to look at. Without this, the SDK has
        `tools/list` answered at each call to find the schema.
        """
        tool = client_calls.direct_tools(self._operations).get(name) if client_calls.is_direct(name) else None
        return None if tool is None else tool.input_schema

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        try:
            answer = await self._answer(context, params)
        except client_calls.NoSuchTool as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        except InfospaceError as error:
            sentence = self._sentence(params.name, error)
            await self.logs.tell(context, "warning", f"{params.name}: {sentence}")
            return types.CallToolResult(content=[_text(sentence)], is_error=True)
        if isinstance(answer, types.InputRequiredResult):
            return answer
        if isinstance(answer, str):
            return types.CallToolResult(content=[_text(answer)])
        # What is left out of a long answer is shown as what it is where that is no text.
        media = media_blocks(self._operations.space, answer["large"]["all_blocks"]) if "large" in answer else []
        if client_calls.is_direct(params.name):
            return _as_tool(answer, media)
        failed = params.name == client_calls.EXECUTE and bool(answer["is_error"])
        # No tool of ours declares an output schema, so an answer stands in its text alone, and once.
        return types.CallToolResult.model_validate({"content": [_text(dump(answer)), *media], "isError": failed})

    def _sentence(self, name: str, error: InfospaceError) -> str:
        """Return what is wrong in a sentence, in the words of the tool that was called."""
        sentence = truncate_error(format_errors(error))
        sets = self._operations.access.tools
        return plain(sentence, "full" if "full" in sets else "core" if name in CORE else "meta")

    async def _answer(
        self, context: Context, params: types.CallToolRequestParams
    ) -> dict[str, Any] | str | types.InputRequiredResult:
        """Answer a call; what it leaves to people to say, the person behind the client is asked, where that can be."""

        async def tell(ended: int, text: str) -> None:
            await context.session.report_progress(ended, None, text)
            await self.logs.tell(context, "info", text)

        operations, name, values = self._operations, params.name, params.arguments or {}
        times = 0
        if params.request_state is None:
            answer = await client_calls.answer(operations, name, values, tell)
        else:
            put = operations.asked.pop(params.request_state, name, values)
            answer, times = put.answered, put.times
            value = elicitation.elicited_answer(params, put.question, operations)
            if value is not ABSENT:
                answer = await client_calls.answered_by_person(operations, name, values, put.question, value, tell)
        while times < MAX_QUESTIONS and elicitation.supports_elicitation(context):
            following = client_calls.asks_people(operations, answer)
            if following is None:
                break
            times += 1
            if elicitation.asks_in_answers(context):
                return elicitation.input_required(operations, OpenQuestion(following, name, values, answer, times))
            value = await elicitation.ask(context, operations, following)
            if value is not ABSENT:
                answer = await client_calls.answered_by_person(operations, name, values, following, value, tell)
        return answer

    async def list_resources(
        self, _context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        try:
            results, cursor = resources.list_resources(self._operations.space, params.cursor if params else None)
        except InfospaceError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        listed = [
            types.Resource(uri=listed_resource.uri, name=listed_resource.name, title=listed_resource.title)
            for listed_resource in results
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=cursor)

    async def list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(name=part, uri_template=f"{resources.SCHEME}://{part}/{{id}}", description=message)
            for part, message in resources.TEMPLATES.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, _context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            mime, text = resources.read_uri(self._operations.space, uri)
        except InfospaceError as error:
            client_calls.keep_hidden(self._operations, "resources/read", resources.name_in(uri))
            code = types.INVALID_PARAMS if isinstance(error, NotFound) else types.INVALID_REQUEST
            raise MCPError(code, str(error), {"uri": uri}) from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime, text=text)])

    async def list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        goal = types.PromptArgument(name="goal", description="What the plan is to achieve.", required=True)
        prompt = types.Prompt(name="plan", description="Write a plan for a goal, and run it.", arguments=[goal])
        return types.ListPromptsResult(prompts=[prompt])

    async def complete(self, _context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Offer what begins as the argument does; nothing for what is not there, since it is still being written."""
        space, reference, prefix = self._operations.space, params.ref, params.argument.value
        results: list[str] = []
        if isinstance(reference, types.ResourceTemplateReference):
            if params.argument.name == "id":
                results = await asyncio.to_thread(completion.complete_resource, space, str(reference.uri), prefix)
        elif reference.name == "plan" and params.argument.name == "goal":
            results = await asyncio.to_thread(completion.complete_goal, space, prefix)
        more = len(results) > completion.MAX_VALUES
        return types.CompleteResult(completion=types.Completion(values=results[: completion.MAX_VALUES], has_more=more))

    async def get_prompt(self, _context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        goal = (params.arguments or {}).get("goal", "")
        if params.name != "plan" or not goal.strip():
            message = "`plan` needs the argument `goal`" if params.name == "plan" else "the one prompt is `plan`"
            raise MCPError(types.INVALID_PARAMS, message)
        catalogue = self._operations.space.catalogue
        if "full" in self._operations.access.tools:
            language, task = short(catalogue), "let check_plan check it until it is ok, then run it with run_plan"
        else:
            language, task = language_page(catalogue), "`find` the tools that it needs, and `run` it"
        text = f"{language}\n\n## Your task\n\nWrite a plan for this goal, {task}.\n\nGoal: {goal}"
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=_text(text))])


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _as_tool(answer: dict[str, Any], media: Sequence[dict[str, Any]]) -> types.CallToolResult:
    """Return the answer of a call as the tool itself would have given it; what is waited for stands in a text."""
    content = [*answer["content"], *media]
    if "approval" in answer:
        content.append({"type": "text", "text": dump(answer["approval"])})
    if "large" in answer:
        content.append({"type": "text", "text": answer["large"]["message"]})
    structured = answer["structured_content"]
    document = {"content": content, "isError": answer["is_error"]}
    if isinstance(structured, dict):
        document["structuredContent"] = structured
    return types.CallToolResult.model_validate(document)


def _without_false(part: Any) -> Any:
    """Return a schema of ours without `"default": false`: a switch that is left out is off."""
    if isinstance(part, list):
        return [_without_false(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {key: _without_false(value) for key, value in part.items() if key != "default" or value is not False}


def _tool(
    name: str,
    message: str,
    schema: dict[str, Any],
    read_only: bool,
    open_world: bool = False,
    destructive: bool | None = None,
) -> types.Tool:
    takes = destructive
    if destructive is None and not read_only:
        takes = True
    hints = types.ToolAnnotations(read_only_hint=read_only, destructive_hint=takes, open_world_hint=open_world)
    return types.Tool(name=name, description=message, input_schema=schema, annotations=hints)
