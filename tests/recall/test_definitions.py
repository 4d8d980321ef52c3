"""The tool definitions: what the API takes, the same bytes always, and no way to name whose history it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import ToolParam
from pydantic import TypeAdapter

from contextmgr import jsontext
from contextmgr.recall import NAMES, Recall, definitions

SHA256 = "cb92f3d5421188a36e5c55cb42550bfb95bf227395c9457c82c0ec7803aa0c7a"
LIMITS = {
    "conversation_search": {"query", "max_results", "project_id"},
    "recent_chats": {"count", "order", "before", "after", "cursor", "project_id"},
    "read_turns": {"chat_id", "first", "last", "offset", "project_id"},
    "note": {"section", "text", "mode"},
    "remember": {"key", "value", "source_turn"},
}


def test_these_are_the_tools_and_their_fields() -> None:
    assert {d["name"]: set(d["input_schema"]["properties"]) for d in definitions()} == LIMITS
    assert tuple(LIMITS) == NAMES


@pytest.mark.parametrize("tool", definitions(), ids=lambda d: d["name"])
def test_a_definition_is_what_the_sdk_takes_and_nothing_else_may_be_given(tool: dict[str, Any]) -> None:
    assert TypeAdapter(ToolParam).validate_python(tool)
    assert tool["input_schema"]["additionalProperties"] is False
    assert set(tool) == {"name", "description", "input_schema"}


@pytest.mark.parametrize("name", ["tenant", "user", "scope", "owner"])
def test_no_tool_can_say_whose_history_it_is(name: str) -> None:
    assert not [d["name"] for d in definitions() if name in json.dumps(d["input_schema"]["properties"]).split('"')]


def test_definitions_are_the_same_bytes_in_another_process() -> None:
    code = "import json; from contextmgr.recall import definitions; print(json.dumps(definitions()), end='')"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=root, env=environment)
    assert run.stdout.decode() == json.dumps(definitions())


def test_definitions_do_not_change_unnoticed() -> None:
    """A change ends every epoch that is open: make it on purpose, and put the new digest here."""
    assert jsontext.sha256(json.dumps(definitions())) == SHA256


def test_changing_what_was_given_changes_nothing_here() -> None:
    definitions()[0]["input_schema"]["properties"].clear()
    assert definitions()[0]["input_schema"]["properties"]


def test_a_client_without_a_conversation_gets_the_tools_that_read() -> None:
    assert [d["name"] for d in Recall.definitions(writing=False)] == list(NAMES[:3])
    assert all(map(Recall.is_recall, NAMES))
    assert not Recall.is_recall("bash")
