"""Which tool gives what another one takes: by types and by names."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infospace import Invalid, NotFound, Space
from infospace.core.tool import Tool
from infospace.schema.normal_form import normal_form
from infospace.store.tool_records import RecordCall
from infospace.tools.local import LocalTools
from infospace.tools.search.types import MIN_COMPATIBILITY, ToolTypes
from planner.metatools.chaining.chain import Call, Chain
from planner.metatools.chaining.data_flow import MOST_EDGES, Flow, data_flow, flows_between, neighbours
from planner.metatools.chaining.plan_goal import ChainedPlan
from planner.metatools.chaining.plan_tools import cost_of
from planner.metatools.chaining.tool_graph import graph_of_tools, neighbourhood

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
AT = "2026-04-01T09:30:00.123Z"


def tool(name: str, takes: dict[str, Any], gives: dict[str, Any] | None = None, server: str = "shop") -> Tool:
    """Return a tool that needs all that it takes; `gives` are keys of its result."""
    schema = {"type": "object", "properties": takes, "required": list(takes)}
    result = None if gives is None else {"type": "object", "properties": gives, "required": list(gives)}
    return Tool(server, name, f"Does {name}.", schema, result)


def listing(of: str) -> dict[str, Any]:
    """Return a list of things with an id and a name."""
    return {of: {"type": "array", "items": {"type": "object", "properties": {"id": WHOLE, "name": TEXT}}}}


LIST_ORDERS = tool("list_orders", {}, listing("orders"))
GET_ORDER = tool("get_order", {"order_id": WHOLE}, {"customer_id": WHOLE, "total": {"type": "number"}})
GET_CUSTOMER = tool("get_customer", {"customer_id": WHOLE}, {"email": TEXT})
MAIL = tool("send_mail", {"email": TEXT, "text": TEXT})
SHOP = [LIST_ORDERS, GET_ORDER, GET_CUSTOMER, MAIL]


def edges(found: list[Flow]) -> set[tuple[str, str, str, str]]:
    return {(flow.source.name, flow.place.path, flow.target.name, flow.parameter) for flow in found}


def test_an_edge_leads_from_a_place_to_the_argument_that_is_the_same_thing() -> None:
    assert edges(data_flow(ToolTypes(), SHOP)) == {
        ("list_orders", ".orders[0].id", "get_order", "order_id"),
        ("get_order", ".customer_id", "get_customer", "customer_id"),
        ("get_customer", ".email", "send_mail", "email"),
    }


@pytest.mark.parametrize(
    "other",
    [
        tool("get_order", {"order_id": TEXT}),
        tool("get_order", {"order_id": {"type": "array", "items": WHOLE}}),
        tool("get_film", {"film_id": WHOLE}),
        tool("get_order", {"order_id": WHOLE}, server="elsewhere"),
        tool("get_order", {"order_name": TEXT}),
    ],
    ids=["another type", "a list", "another thing", "another server", "another word"],
)
def test_there_is_no_edge_where_type_thing_or_server_is_another(other: Tool) -> None:
    """An id means nothing elsewhere."""
    assert list(flows_between(ToolTypes(), LIST_ORDERS, GET_ORDER))
    assert data_flow(ToolTypes(), [LIST_ORDERS, other]) == []


def test_of_several_places_the_surest_is_told_and_the_outer_of_equals() -> None:
    many = tool("find_order", {}, {"order_id": WHOLE, "first": {"type": "object", "properties": {"order_id": WHOLE}}})
    [flow] = data_flow(ToolTypes(), [many, GET_ORDER])
    assert (flow.place.path, flow.score) == (".order_id", 1.0)
    assert "is the id of: order" in flow.reason


def test_at_most_eight_edges_lead_from_a_tool() -> None:
    many = [tool(f"get_order_{at}", {"order_id": WHOLE}) for at in range(20)]
    found = data_flow(ToolTypes(), [LIST_ORDERS, *many])
    assert len(found) == MOST_EDGES
    assert len(neighbours(ToolTypes(), [LIST_ORDERS, *many], LIST_ORDERS).after) == MOST_EDGES


def test_neighbours_are_the_edges_of_the_graph_on_both_sides() -> None:
    found = neighbours(ToolTypes(), SHOP, GET_ORDER)
    assert [flow.source.name for flow in found.before] == ["list_orders"]
    assert [flow.target.name for flow in found.after] == ["get_customer"]
    assert neighbours(ToolTypes(), SHOP, MAIL).after == []


@settings(max_examples=30, deadline=None)
@given(chance=st.randoms(use_true_random=False))
def test_what_is_looked_up_by_words_is_what_comparing_all_pairs_finds(chance: random.Random) -> None:
    """For tools of words and types by chance."""
    words = ["order", "user", "film", "get", "list", "name"]

    def some(suffix: str) -> dict[str, Any]:
        return {f"{chance.choice(words)}_{suffix}": chance.choice([TEXT, WHOLE]) for _ in range(chance.randint(0, 3))}

    tools = [
        tool(
            f"{chance.choice(words)}_{chance.choice(words)}_{at}",
            some(chance.choice(["id", "name", "key"])),
            {**some(chance.choice(["id", "name"])), **listing(chance.choice(words))},
            chance.choice(["shop", "shop", "store"]),
        )
        for at in range(14)
    ]
    types = ToolTypes()
    every = [
        flow
        for source in tools
        for target in tools
        for flow in flows_between(types, source, target)
        if flow.score >= MIN_COMPATIBILITY
    ]
    found = data_flow(types, tools)
    assert edges(found) <= edges(every)
    for source in tools:
        mine = sorted((flow.score for flow in every if flow.source is source), reverse=True)[:MOST_EDGES]
        assert [flow.score for flow in found if flow.source is source] == mine


@pytest.fixture
def shop(space: Space) -> Space:
    """A space with the tools of a shop."""
    server = LocalTools("shop")
    server.tools = lambda: SHOP  # type: ignore[method-assign]
    space.tools.add(server)
    return space


def test_the_graph_has_services_tools_and_flows(shop: Space) -> None:
    found = graph_of_tools(shop)
    assert found["services"] == [{"name": "shop", "tools": 4}]
    assert {"tool_name": "shop/get_order", "belongs_to": "shop"} in found["tools"]
    assert len(found["flows"]) == 3
    assert graph_of_tools(shop, ["shop"]) == found
    with pytest.raises(Invalid, match="no server 'shoop' has a tool here") as caught:
        graph_of_tools(shop, ["shoop"])
    assert caught.value.hint == "did you mean 'shop'?"


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"destructive": True}, 1),
        ({"destructive": False}, 0),
        ({"destructive": False, "annotated": False}, 0),
        ({"destructive": False, "annotated": False, "trusted": False}, 1),
        ({"destructive": False, "trusted": False}, 0),
        ({"destructive": True, "auto_approved": True}, 0),
    ],
)
def test_a_plan_costs_what_its_calls_cost(space: Space, fields: dict[str, Any], asked: int) -> None:
    """Milliseconds by how calls went before, where all of its tools were called; and who is asked about it."""
    mine, other = replace(GET_ORDER, **fields), replace(LIST_ORDERS, destructive=False)
    calls = tuple(Call(one, {}, frozenset()) for one in (other, mine, other))
    made = ChainedPlan({}, Chain(calls), 1.0, ())
    space.store.commit([RecordCall("shop", "list_orders", AT, ms, well=True) for ms in (10.0, 15.1)])
    assert cost_of(space, made) == {"calls": 3, "approvals": asked, "expected_ms": None}
    space.store.commit([RecordCall("shop", "get_order", AT, 4.03, well=False)])
    assert cost_of(space, made) == {"calls": 3, "approvals": asked, "expected_ms": 29.1}


def test_a_neighbourhood_is_told_by_name_and_unknown_names_are_refused(shop: Space) -> None:
    found = neighbourhood(shop, "shop/get_order")
    assert [(flow["from"], flow["place"], flow["argument"]) for flow in found["before"]] == [
        ("shop/list_orders", ".orders[0].id", "order_id")
    ]
    with pytest.raises(NotFound, match="there is no tool 'shop/get_oder'"):
        neighbourhood(shop, "shop/get_oder")


def test_of_thousands_alike_the_graph_takes_in_proportion_to_their_number() -> None:
    """By CPU time: four times the tools take about four times as long, where comparing all takes sixteen."""

    def seconds(count: int) -> float:
        tools = [tool(f"get_order_{at:04d}", {"order_id": WHOLE}, {"order_id": WHOLE}) for at in range(count)]
        types = ToolTypes()
        assert len(data_flow(types, tools)) == MOST_EDGES * count
        taken = []
        for _ in range(3):
            begun = time.process_time()
            data_flow(types, tools)
            taken.append(time.process_time() - begun)
        return min(taken)

    assert seconds(1_200) < 8 * seconds(300)


def test_arguments_are_alike_where_their_schemas_say_the_same() -> None:
    """Whatever they say to people; one with a reference is like itself alone."""
    told, bounded = {**WHOLE, "description": "Which one", "default": 1}, {**WHOLE, "minimum": 1}
    assert normal_form(told).form == normal_form(WHOLE).form
    assert len({str(normal_form(one).form) for one in (WHOLE, TEXT, bounded, {"const": 1}, {"const": True})}) == 5
    first, second = ({"$ref": "#/$defs/a", "$defs": {"a": one}} for one in (WHOLE, WHOLE))
    assert normal_form(first).form != normal_form(second).form
