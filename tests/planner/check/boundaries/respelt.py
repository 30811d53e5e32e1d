"""Plans in the words of other systems: the fixes of the first make it right."""

from __future__ import annotations

from plangen.mistakes import ITEMS, NOTE, note, over

from boundaries.parts import HEAD, LIST, ROWS, SAY, TEST, TOLD, Pair, each, load, mapped, saved, shown, tool, without

RESPELT: dict[str, Pair] = {
    # a plan that the fixes of its problems make a right one, and one beside it that they do not
    "the plan in a key": ({"plan": {"steps": [SAY], "goal": "g"}}, {"plan": {"steps": [SAY]}, "steps": [SAY]}),
    "the plan in another key": ({"workflow": {"nodes": [SAY]}}, {"graph": {"type": "x", "nodes": [SAY]}}),
    "the steps": ({"tasks": [SAY]}, {"tasks": {"a": SAY}}),
    "edges that follow": (
        {"nodes": [{**SAY, "id": "a"}, {**SAY, "id": "b"}], "edges": [["a", "b"], ["b", "END"]]},
        {"nodes": [{**SAY, "id": "a"}, {**SAY, "id": "b"}], "edges": [["b", "a"]]},
    ),
    "edges to one another": (
        {"nodes": [{**SAY, "id": "a"}, {**SAY, "id": "b"}], "edges": [{"from": "a", "to": "b"}]},
        {"nodes": [{**SAY, "id": "a"}, {**SAY, "id": "b"}], "edges": [{"from": "a", "to": "a"}]},
    ),
    "edges without more": (
        {"nodes": [{**SAY, "id": "a"}, {**SAY, "id": "b"}], "edges": [{"start": "a", "end": "b"}]},
        {"nodes": [{**SAY, "id": "a"}, {**SAY, "id": "b"}], "edges": [{"start": "a", "end": "b", "if": "x"}]},
    ),
    "edges of two ends": (
        {"nodes": [{**SAY, "id": "a"}], "edges": [["start", "a"]]},
        {"nodes": [{**SAY, "id": "a"}], "edges": [["start", "a", "end"]]},
    ),
    "edges to what is there": (
        {"nodes": [{**SAY, "id": "a"}], "edges": []},
        {"nodes": [{**SAY, "id": "a"}], "edges": [["a", "zebra"]]},
    ),
    "the goal": ({"title": "g", "steps": [SAY]}, {"title": 5, "steps": [SAY]}),
    "the result": ({"steps": [NOTE], "output": "{{x}}"}, {"steps": [NOTE], "output": "the x"}),
    "the result as a list": ({"steps": [NOTE], "returns": ["$x"]}, {"steps": [NOTE], "returns": ["$x", "$x"]}),
    "the inputs": (
        {"params": {"n": {"type": "integer"}}, "steps": [shown("${n}")]},
        {"params": {"n": "integer"}, "steps": [shown("${n}")]},
    ),
    "the type": ([without(SAY, "type", tool="say")], [without(SAY, "type", tool="zebra")]),
    "the type by name": ([without(SAY, "type", name="say")], [without(SAY, "type", name="saying")]),
    "the type that says that it is a call": (
        [without(SAY, type="tool_call", name="say")],
        [without(SAY, type="tool_call")],
    ),
    "the type with its server": (
        [{"type": "mcp_tool", "server": "sky", "tool": "weather", "arguments": {"city": "a"}, "out": "$w"}],
        [{"type": "mcp_tool", "server": "moon", "tool": "weather", "arguments": {"city": "a"}, "out": "$w"}],
    ),
    "the type within": (
        [
            {
                "type": "function",
                "function": {"name": "sky/weather", "arguments": {"city": "a"}, "description": "d"},
                "out": "$w",
            }
        ],
        [{"type": "function", "function": {"name": "sky/weather", "arguments": {"city": "a"}, "more": 1}, "out": "$w"}],
    ),
    "the type within, without one": (
        [{"tool_use": {"name": "sky/weather", "input": {"city": "a"}, "id": "t1"}, "out": "$w"}],
        [{"tool_use": {"name": "sky/weather", "input": {"city": "a"}}, "arguments": {}, "out": "$w"}],
    ),
    "the type of a call of the protocol": (
        [{"method": "tools/call", "jsonrpc": "2.0", "params": {"name": "sky/weather", "arguments": {"city": "a"}}}],
        [{"method": "resources/read", "params": {"name": "zebra", "arguments": {"city": "a"}}}],
    ),
    "the type as a key": ([{"say": "a"}], [{"say": "a", "load": "taken"}]),
    "the type as a key of a form": (
        [LIST, {"if": TEST, "then": [SAY]}],
        [LIST, {"if": TEST, "while": TEST, "then": [SAY]}],
    ),
    "the type as a key of arguments": (
        [{"head": {"target": [1], "count": 1}, "out": "$o"}],
        [{"head": {"target": [1], "out": "$p"}, "out": "$o"}],
    ),
    "the type as a tool's name": ([{"sky/weather": {"city": "a"}, "out": "$w"}], [{"sky/weather": "a", "out": "$w"}]),
    "a filter that compares": (
        [ROWS, over("filter", "$c", condition="price > 1")],
        [ROWS, over("filter", "$c", condition="dear things")],
    ),
    "a verb elsewhere": ([without(HEAD, type="take")], [without(HEAD, type="grab")]),
    "fields that are computed": (
        [ROWS, over("with_columns", "$c", columns={"t": "price * n", "one": 1})],
        [ROWS, over("with_columns", "$c", columns={"t": ["price", "n"]})],
    ),
    "a field that is computed": (
        [ROWS, over("derive", "$c", field="t", expression="price * n")],
        [ROWS, over("derive", "$c", field="t", text="price * n")],
    ),
    "a field that is computed, keeping": (
        [ROWS, over("mutate", "$c", fields={"t": "price * n"}, keep=True)],
        [ROWS, over("mutate", "$c", fields={"t": "price * n"}, keep=False)],
    ),
    "arguments in a key": (
        [{"type": "head", "args": {"target": [1], "count": 1}, "out": "$o"}],
        [{"type": "head", "args": {"target": [1]}, "target": [2], "out": "$o"}],
    ),
    "arguments in a key that may be another": (
        [{"type": "head", "data": {"target": [1], "count": 1}, "out": "$o"}],
        [{"type": "head", "data": {"zebra": [1], "count": 1}, "out": "$o"}],
    ),
    "arguments as a text": (
        [{"type": "head", "parameters": '{"target": [1], "count": 1}', "out": "$o"}],
        [{"type": "head", "parameters": "target, count", "out": "$o"}],
    ),
    "a tool's arguments as a text": (tool(arguments=' {"city": "a"}'), tool(arguments="city a")),
    "a tool's arguments in a key": (tool(args={"city": "a"}), tool(args={"city": "a"}, arguments={"city": "b"})),
    "a tool's arguments in a key that may be another": (tool(body={"city": "a"}), tool(body={"zebra": "a"})),
    "a tool's arguments in a key, as a text": (tool(input='{"city": "a"}'), tool(input="a")),
    "a tool's arguments beside": (tool(city="a", days=2), tool(city="a", zebra=2)),
    "a tool's arguments beside the others": (
        tool(arguments={"city": "a"}, days=2),
        tool(arguments={"city": "a", "days": 1}, days=2),
    ),
    "a tool's arguments in a map": (
        [ITEMS, mapped({"type": "sky/weather", "city": "$item.title"})],
        [ITEMS, mapped({"type": "sky/weather", "zebra": "$item.title"})],
    ),
    "the variable": ([without(HEAD, "out", save_as="o")], [without(HEAD, "out", save_as="o p")]),
    "the variable in braces": ([without(HEAD, "out", into="{{ o }}")], [without(HEAD, "out", into="{{ o }} {{ p }}")]),
    "the variable of what has none": (
        [without(NOTE, "out", variable="x"), TOLD],
        [{"type": "say", "value": "a", "variable": "x"}],
    ),
    "the variable as a label": ([without(NOTE, "out", id="$x"), TOLD], [without(NOTE, "out", id="y"), TOLD]),
    "the label that is read": (
        [without(NOTE, "out", id="x"), TOLD],
        [NOTE | {"out": "$z"}, {"type": "say", "value": "a", "id": "x"}, TOLD],
    ),
    "the name that is read": (
        [without(HEAD, "out", name="x", thought="t"), TOLD],
        [without(HEAD, "out", name="x y", thought="t"), TOLD],
    ),
    "a label": ([{**SAY, "step_id": "first"}], [{**SAY, "step_id": ["first"]}]),
    "a label that counts": ([{**SAY, "step": 1}, {**SAY, "step": 2}], [{**SAY, "step": 7}]),
    "a label that counts from zero": ([{**SAY, "index": 0}, {**SAY, "index": 1}], [{**SAY, "index": -1}]),
    "a label beside one": ([{**SAY, "node_id": "n"}], [{**SAY, "node_id": "n", "id": "m"}]),
    "a comment": ([{**SAY, "thought": "t"}], [{**SAY, "thinking": "t"}]),
    "a comment beside another": ([{**SAY, "thought": "t", "reason": {"a": 1}, "expect": "e"}], [{**SAY, "thoght": 1}]),
    "the order": (
        [{**SAY, "id": "a"}, {**SAY, "depends_on": ["a"]}],
        [{**SAY, "depends_on": ["b"]}, {**SAY, "id": "b"}],
    ),
    "the order by number": ([SAY, {**SAY, "after": 1}], [SAY, {**SAY, "after": 2}]),
    "the order by a word with a number": ([SAY, {**SAY, "after": "step_1"}], [SAY, {**SAY, "after": "step_2"}]),
    "the order by nothing": ([{**SAY, "needs": []}], [{**SAY, "needs": [True]}]),
    "the order by null": ([{**SAY, "needs": None}], [{**SAY, "needs": [0.5]}]),
    "the order by a variable": ([NOTE, {**TOLD, "dependsOn": "${x}"}], [{**SAY, "dependsOn": "${x y}"}, NOTE, TOLD]),
    "what a failure does": ([load("taken", on_error="continue")], [load("taken", on_error="continue", on_fail="stop")]),
    "what a failure does, as a number": ([load("taken", fallback=[SAY])], [load("taken", fallback=1)]),
    "a null that says nothing": ([{**SAY, "expect": None}], [{**SAY, "value": "$y", "expect": None}]),
    "a null of a form": ([LIST, each(SAY, until=None)], [LIST, each(SAY, target=None)]),
    "one step for a list": (
        [LIST, {"type": "if", "condition": TEST, "then": SAY}],
        [LIST, {"type": "if", "condition": TEST, "then": "say"}],
    ),
    "one step for a branch": (
        [{"type": "parallel", "branches": [SAY, [SAY]]}],
        [{"type": "parallel", "branches": [{"zebra": 1}, [SAY]]}],
    ),
    "a condition as an object": (
        [ROWS, over("filter-structured", "$c", where={"price": {"$gte": 2}, "n": 3})],
        [ROWS, over("filter-structured", "$c", where={"price": {"$near": 2}})],
    ),
    "a condition as an object with a list": (
        [ROWS, over("filter-structured", "$c", where={"price": {"in": [1, 2]}, "n": {"ne": 4}})],
        [ROWS, over("filter-structured", "$c", where={"price": {"in": 2}})],
    ),
    "a condition with a null": (
        [ROWS, over("filter-structured", "$c", where={"price": None})],
        [ROWS, over("filter-structured", "$c", where=["price", 2])],
    ),
    "a condition with a text": (
        [
            {"type": "create-collection", "value": [{"t": "it's"}], "out": "$c"},
            over("filter-structured", "$c", where={"t": "it's"}),
        ],
        [
            {"type": "create-collection", "value": [{"t": "it's"}], "out": "$c"},
            over("filter-structured", "$c", where="t = 'it's'"),
        ],
    ),
    "a condition with a variable": (
        [ROWS, note(2), over("filter-structured", "$c", where="price = '${x}'")],
        [ROWS, note(2), over("filter-structured", "$c", where="price = {x}")],
    ),
    "a condition as of SQL": (
        [ROWS, over("filter-structured", "$c", where="SELECT * FROM c WHERE price > 1;")],
        [ROWS, over("filter-structured", "$c", where="SELECT * FROM c")],
    ),
    "conditions in a list": (
        [ROWS, over("filter-structured", "$c", where=["price > 1 OR n > 1", "n < 9"])],
        [ROWS, over("filter-structured", "$c", where=["price > 1", "n <"])],
    ),
    "a condition with signs of C": (
        [ROWS, over("filter-structured", "$c", where="price === 2 && (n === 3 || n > 4)")],
        [ROWS, over("filter-structured", "$c", where="price ?= 2")],
    ),
    "a condition with a parenthesis": (
        [ROWS, over("filter-structured", "$c", where="(price > (n - 1)")],
        [ROWS, over("filter-structured", "$c", where="(price > 1 AND n > 1")],
    ),
    "a number as a text": ([without(HEAD, count="2")], [without(HEAD, count="two")]),
    "a number with nothing behind the point": ([without(HEAD, count="2.0")], [without(HEAD, count="2.5")]),
    "a number in a list": ([without(HEAD, count=[2])], [without(HEAD, count=[2, 3])]),
    "a number in an object": ([without(HEAD, count={"value": 2})], [without(HEAD, count={"zebra": 2})]),
    "a yes for true": (
        [{"type": "discover-notes", "query": "q", "certify": "yes", "out": "$o"}],
        [{"type": "discover-notes", "query": "q", "certify": "maybe", "out": "$o"}],
    ),
    "a word in another case": (
        [LIST, over("coerce", "$c[0]", coercion="String")],
        [LIST, over("coerce", "$c[0]", coercion="words")],
    ),
    "a word for the same": (
        [LIST, over("coerce", "$c[0]", coercion="text")],
        [LIST, over("coerce", "$c[0]", coercion="letters")],
    ),
    "a word with `to`": (
        [LIST, over("coerce", "$c[0]", coercion="to_string")],
        [LIST, over("coerce", "$c[0]", coercion="into_string")],
    ),
    "a slice": ([load("taken", slice="[0-5]")], [load("taken", slice="-5-9")]),
    "a path that ends with a point": (
        [ROWS, over("pluck", "$c", field="price.")],
        [ROWS, over("pluck", "$c", field="pr ice..n")],
    ),
    "an order turned round": (
        [ROWS, over("sort", "$c", by="n", descending=True)],
        [ROWS, over("sort", "$c", by="n", descending="yes")],
    ),
    "an order not turned round": (
        [ROWS, over("sort", "$c", by="n", reverse=False)],
        [ROWS, over("sort", "$c", by="n", reverse=True, order="asc")],
    ),
    "an argument elsewhere": (
        [{"type": "discover-notes", "query": "q", "top_k": 3, "out": "$o"}],
        [{"type": "discover-notes", "query": "q", "top_k": 3, "limit": 2, "out": "$o"}],
    ),
    "a tool's argument elsewhere": (tool(arguments={"city_name": "a"}), tool(arguments={"city_mayor": "a"})),
    "a tool's argument of other words": (tool(arguments={"the_city": "a"}), tool(arguments={"id": "a"})),
    "a tool's argument by one of two": (tool(arguments={"City": "a"}), tool(arguments={"town": "a", "place": "b"})),
    "a name of a variable": ([NOTE, load("x")], [NOTE, load("y")]),
    "a variable without its braces": ([NOTE, shown("$x.titel")], [NOTE, shown("$x.zebra")]),
    "a type whose arguments say which": (
        [ROWS, {"type": "filter", "target": "$c", "where": "n > 1", "out": "$o"}],
        [ROWS, {"type": "discover", "query": "$c", "out": "$o"}],
    ),
    "an input of a saved plan": ([LIST, saved(n=1, fron="$c")], [LIST, saved(n=1, since="$c")]),
}
