"""Request validity: each rule by one breach of it, the two implementations against each other, and the docs table."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.validity import RULES, Finding, validate
from tests.request_check import check_request
from tests.valid_requests import (
    ValidRequest,
    assistant,
    call,
    result,
    rich_request,
    server_call,
    server_result,
    text,
    thinking,
    user,
    valid_requests,
)

Params = dict[str, Any]
Breach = Callable[[Params], object]


def content(params: Params, i: int) -> list[Any]:
    """The blocks of one message."""
    blocks: list[Any] = params["messages"][i]["content"]
    return blocks


def rules(params: Any, **options: bool) -> set[str]:
    """The ids of the rules a request breaks."""
    return {finding.rule for finding in validate(params, **options)}


def mark(*holders: Params, **mark: str) -> None:
    """Put cache marks on blocks, tools or the request."""
    for holder in holders:
        holder["cache_control"] = {"type": "ephemeral"} | mark


def defer(tool: Params) -> Params:
    """Make a tool one that is loaded only when it is searched for."""
    tool["defer_loading"] = True
    return tool


BREACHES: dict[str, tuple[set[str], Breach]] = {
    "no model": ({"V01"}, lambda p: p.pop("model")),
    "blank model": ({"V01"}, lambda p: p.update(model=" ")),
    "no max_tokens": ({"V02"}, lambda p: p.pop("max_tokens")),
    "max_tokens below zero": ({"V02"}, lambda p: p.update(max_tokens=-1)),
    "max_tokens a bool": ({"V02"}, lambda p: p.update(max_tokens=True)),
    "no messages": ({"V03"}, lambda p: p.update(messages=[])),
    "messages missing": ({"V03"}, lambda p: p.pop("messages")),
    "system role": ({"V04"}, lambda p: p["messages"].append({"role": "system", "content": [text("x")]})),
    "extra key in a message": ({"V04"}, lambda p: p["messages"][0].update(id="msg_1")),
    "message not an object": ({"V04"}, lambda p: p["messages"].append("hello")),
    "assistant first": ({"V05"}, lambda p: p["messages"].insert(0, assistant(text("hi")))),
    "assistant last": ({"V06"}, lambda p: p["messages"].append(assistant(text("So")))),
    "two user messages": ({"V07"}, lambda p: p["messages"].append(user(text("And?")))),
    "empty content": ({"V08"}, lambda p: content(p, 8).clear()),
    "string content": ({"V08"}, lambda p: p["messages"][8].update(content="Thanks.")),
    "block without type": ({"V08"}, lambda p: content(p, 8).append({"text": "x"})),
    "block not an object": ({"V08"}, lambda p: content(p, 8).append("x")),
    "empty result list": ({"V08"}, lambda p: content(p, 2)[0].update(content=[])),
    "call inside a result": ({"V08"}, lambda p: content(p, 2)[0]["content"].append(call(9))),
    "empty text": ({"V09"}, lambda p: content(p, 8)[0].update(text="")),
    "blank text": ({"V09"}, lambda p: content(p, 8)[0].update(text=" \n\u2003")),
    "text missing": ({"V09"}, lambda p: content(p, 8)[0].pop("text")),
    "blank text in a result": ({"V09"}, lambda p: content(p, 2)[0]["content"][0].update(text=" ")),
    "blank result": ({"V09"}, lambda p: content(p, 2)[1].update(content="\n")),
    "white space at the end": ({"V06", "V10"}, lambda p: p["messages"].append(assistant(text("So \n")))),
    "id with a dot": ({"V11", "V13", "V15"}, lambda p: content(p, 1)[3].update(id="functions.x:0")),
    "id with a newline": ({"V11", "V13", "V15"}, lambda p: content(p, 1)[3].update(id="toolu_1\n")),
    "id not a string": ({"V11", "V15"}, lambda p: content(p, 1)[3].update(id=["toolu_1"])),
    "server id without its prefix": ({"V11", "V17"}, lambda p: content(p, 3)[0].update(id="toolu_77")),
    "tool name with a dot": ({"V11"}, lambda p: content(p, 1)[3].update(name="fs.read")),
    "tool name of 129": ({"V11"}, lambda p: content(p, 1)[3].update(name="x" * 129)),
    "input a string": ({"V11"}, lambda p: content(p, 1)[3].update(input="{}")),
    "call by the user": ({"V11"}, lambda p: content(p, 8).append(call(9))),
    "one id twice": ({"V12"}, lambda p: (content(p, 5)[2].update(id="toolu_1"), content(p, 6)[0].update(result(1)))),
    "one id twice in a message": ({"V12", "V15"}, lambda p: content(p, 1)[4].update(id="toolu_1")),
    "call without result": ({"V13"}, lambda p: content(p, 2).pop(1)),
    "call with two results": ({"V13"}, lambda p: content(p, 2).insert(1, result(1))),
    "result a message late": ({"V13", "V15"}, lambda p: content(p, 4).insert(0, content(p, 2).pop(0))),
    "call at the end": ({"V06", "V13"}, lambda p: p["messages"].append(assistant(call(9)))),
    "text before results": ({"V14"}, lambda p: content(p, 2).insert(0, text("First:"))),
    "text between results": ({"V14"}, lambda p: content(p, 2).insert(1, text("Second:"))),
    "result of an unknown call": ({"V15"}, lambda p: content(p, 8).insert(0, result(9))),
    "result by the assistant": ({"V15"}, lambda p: content(p, 7).append(result(9))),
    "no tools": ({"V16"}, lambda p: p.pop("tools")),
    "empty tools": ({"V16"}, lambda p: p.update(tools=[])),
    "server call without result": ({"V17"}, lambda p: content(p, 3).pop(1)),
    "server result without call": ({"V17"}, lambda p: content(p, 3).pop(0)),
    "server result twice": ({"V17"}, lambda p: content(p, 3).insert(2, server_result(1))),
    "server result before its call": ({"V17"}, lambda p: content(p, 3).reverse()),
    "server result by the user": ({"V17"}, lambda p: content(p, 8).append(server_result(1))),
    "text beside the results of a mixed turn": ({"V17"}, lambda p: content(p, 6).append(text("Note:"))),
    "mixed turn without its server result": ({"V17"}, lambda p: content(p, 7).pop(0)),
    "thinking by the user": ({"V18"}, lambda p: content(p, 8).insert(0, thinking())),
    "no signature": ({"V18"}, lambda p: content(p, 1)[0].pop("signature")),
    "empty signature": ({"V18"}, lambda p: content(p, 1)[0].update(signature="")),
    "no thinking in thinking": ({"V18"}, lambda p: content(p, 1)[0].pop("thinking")),
    "redacted without data": ({"V18"}, lambda p: content(p, 1)[1].pop("data")),
    "five marks": ({"V19"}, lambda p: mark(*(content(p, i)[-1] for i in (3, 4, 8)))),
    "automatic mark as the fifth": ({"V19"}, lambda p: mark(p, content(p, 3)[2], content(p, 8)[0])),
    "mark on thinking": ({"V20"}, lambda p: mark(content(p, 1)[0])),
    "mark inside a result": ({"V20"}, lambda p: mark(content(p, 2)[0]["content"][0])),
    "mark on a blank text": ({"V09", "V20"}, lambda p: content(p, 2)[2].update(text="")),
    "mark of another type": ({"V20"}, lambda p: mark(content(p, 8)[0], type="forever")),
    "mark for a day": ({"V20"}, lambda p: mark(content(p, 8)[0], ttl="24h")),
    "mark on a deferred tool": ({"V20"}, lambda p: mark(defer(p["tools"][0]))),
    "an hour after five minutes": ({"V21"}, lambda p: mark(content(p, 8)[0], ttl="1h")),
    "an hour in system after five minutes in tools": ({"V21"}, lambda p: mark(p["tools"][0])),
    "blank system": ({"V22"}, lambda p: p.update(system=" ")),
    "empty system": ({"V22"}, lambda p: p.update(system=[])),
    "no system": ({"V22"}, lambda p: p.update(system=None)),
    "image in system": ({"V22"}, lambda p: p["system"].append({"type": "image"})),
    "two tools of one name": ({"V23"}, lambda p: p["tools"].append(p["tools"][0])),
    "tool without schema": ({"V23"}, lambda p: p["tools"][0].pop("input_schema")),
    "tool without name": ({"V23"}, lambda p: p["tools"][0].pop("name")),
    "tool name with a blank": ({"V23"}, lambda p: p["tools"][0].update(name="read file")),
    "only deferred tools": ({"V23"}, lambda p: [defer(tool) for tool in p["tools"]]),
    "tools not a list": ({"V23"}, lambda p: p.update(tools={"read_file": {}})),
    "thinking without type": ({"V24"}, lambda p: p.update(thinking={"budget_tokens": 2048})),
    "small thinking budget": ({"V24"}, lambda p: p.update(thinking={"type": "enabled", "budget_tokens": 1023})),
    "lone surrogate": ({"V25"}, lambda p: content(p, 8)[0].update(text="pi\udc97ce")),
    "lone surrogate in a key": ({"V25"}, lambda p: content(p, 1)[3]["input"].update({"\ud83d": 1})),
    "NUL in an argument": ({"V25"}, lambda p: content(p, 1)[3]["input"].update(path=["a\x00b"])),
    "bytes": ({"V26"}, lambda p: content(p, 1)[3]["input"].update(path=b"a")),
    "not a number": ({"V26"}, lambda p: content(p, 1)[3]["input"].update(x=float("nan"))),
    "33 MB": ({"V27"}, lambda p: content(p, 8)[0].update(text="x" * 33_000_000)),
    "bitmap": ({"V28"}, lambda p: content(p, 0)[1]["source"].update(media_type="image/bmp")),
    "image without data": ({"V28"}, lambda p: content(p, 2)[0]["content"][1]["source"].update(data="")),
    "image without source": ({"V28"}, lambda p: content(p, 0)[1].pop("source")),
    "Word document": ({"V28"}, lambda p: content(p, 0)[2]["source"].update(media_type="application/msword")),
}


def breach(name: str) -> Params:
    """The rich request with one fault put into it."""
    params = copy.deepcopy(rich_request())
    BREACHES[name][1](params)
    return params


def test_the_rich_request_is_valid() -> None:
    assert validate(rich_request()) == ()
    assert check_request(rich_request()) == []


@pytest.mark.parametrize("name", BREACHES)
def test_each_breach_is_found_by_its_rule(name: str) -> None:
    assert rules(breach(name)) == BREACHES[name][0]


@pytest.mark.parametrize("name", BREACHES)
def test_each_breach_is_found_by_the_other_implementation(name: str) -> None:
    assert check_request(breach(name)) != []


def test_every_rule_has_a_breach() -> None:
    assert set().union(*(expected for expected, _ in BREACHES.values())) == set(RULES)


@given(valid_requests())
def test_valid_requests_have_no_findings(request_: ValidRequest) -> None:
    assert validate(request_.params, paused_tail=request_.paused_tail) == ()
    assert check_request(request_.params, paused_tail=request_.paused_tail) == []


@st.composite
def damaged_requests(draw: st.DrawFn) -> ValidRequest:
    """A valid request of which one to three values were dropped, doubled, swapped or replaced."""
    params, paused_tail = draw(valid_requests())
    params = copy.deepcopy(params)
    for _ in range(draw(st.integers(1, 3))):
        holder, key = draw(st.sampled_from(list(places(params))))
        action = draw(st.sampled_from(["drop", "double", "swap", "replace"]))
        if action == "drop":
            del holder[key]
        elif action == "double" and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif action == "swap" and isinstance(holder, list):
            holder[key], holder[0] = holder[0], holder[key]
        else:
            holder[key] = draw(SUBSTITUTES)
    return ValidRequest(params, paused_tail)


SUBSTITUTES = st.sampled_from(
    ["", " ", "user", "assistant", "text", "tool_use", "tool_result", "thinking", "toolu_1", "srvtoolu_1", "1h", "a.b"]
    + ["\x00", "\udc97", None, True, 0, -1, 1.5, [], {}, ["x"], text("x"), result(1), server_call(1), server_result(1)]
).map(copy.deepcopy)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (holder, key) in a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@given(damaged_requests())
def test_both_implementations_agree(request_: ValidRequest) -> None:
    found = validate(request_.params, paused_tail=request_.paused_tail)
    faults = check_request(request_.params, paused_tail=request_.paused_tail)
    assert (found == ()) == (faults == []), (found, faults)
    assert {finding.rule for finding in found} <= set(RULES)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
words = st.sampled_from(["role", "content", "type", "text", "tool_use", "tool_result", "id", "source", "cache_control"])
json_values = st.recursive(
    scalars | words, lambda inner: st.lists(inner) | st.dictionaries(words | st.text(), inner), max_leaves=20
)


@given(json_values, st.sampled_from(["", "model", "messages", "system", "tools", "thinking", "cache_control"]))
def test_never_raises(value: Any, key: str) -> None:
    found = validate({**rich_request(), key: value} if key else value)
    assert all(isinstance(finding, Finding) for finding in found)


def test_very_deep_and_cyclic_values_are_findings() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    cycle: list[Any] = []
    cycle.append(cycle)
    for value in (deep, cycle):
        assert rules({**rich_request(), "metadata": value}) == {"V26"}


def test_a_paused_turn_may_end_the_request_with_a_server_call_open() -> None:
    params = rich_request()
    params["messages"].append(assistant(text("Searching. "), server_call(9)))
    assert rules(params, paused_tail=True) == set()
    assert rules(params) == {"V06", "V17"}


def test_a_mixed_turn_may_wait_for_the_servers_result() -> None:
    params = rich_request()
    params["messages"] += [assistant(server_call(9), call(9)), user(result(9))]
    assert validate(params) == ()
    params["messages"] += [assistant(call(10)), user(result(10)), assistant(server_result(9)), user(text("ok"))]
    assert validate(params) == ()


def test_what_follows_a_paused_turn_that_was_left_is_found() -> None:
    params = rich_request()
    params["messages"] += [assistant(server_call(9)), user(text("Never mind."))]
    assert rules(params, paused_tail=True) == {"V17"}


def test_large_but_legal_requests_are_valid() -> None:
    params = rich_request()
    content(params, 8)[0]["text"] = "\n \u0007x" * 2_000_000
    assert len(json.dumps(params)) > 16_000_000
    assert validate(params) == ()


def test_findings_say_where() -> None:
    params = breach("NUL in an argument")
    (finding,) = validate(params)
    assert str(finding) == "V25 messages[1].content[3].input.path[0]: it holds a NUL"


def test_the_docs_hold_the_rules(repository: Path) -> None:
    page = (repository / "docs" / "validity.md").read_text("utf-8")
    table = [line for line in page.splitlines() if line.startswith("| V")]
    assert table == [f"| {rule} | {line} |" for rule, line in RULES.items()]


def test_the_docs_example_prints_what_it_says(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (repository / "docs" / "validity.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    exec(code, {})
    assert capsys.readouterr().out == code.split("print(finding)  # ")[1]
