"""Whether the Messages API would take a request: `validate` names every rule it breaks and never raises.

Law: no request leaves with a finding.  The rules are those of the API's documentation and of its SDK's types, plus
what contextmgr asks of its own requests (content is always a list, neighbours of one role are merged); what depends on
a model or an account, and whether thinking is what was stored, is decided where requests are made.  Block types
that are not known here are let through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextmgr.validity import calls, encoding, marks, shape
from contextmgr.validity.findings import RULES, Finding

__all__ = ["RULES", "Finding", "validate"]


def validate(params: Mapping[str, Any], *, paused_tail: bool = False) -> tuple[Finding, ...]:
    """Return what is wrong with the arguments of ``client.messages.create``; ``()`` when the request is valid.

    ``paused_tail`` says that the last assistant turn was paused by the API, so the request may end on it and may
    hold server tool calls without results there.  Takes any JSON-like value without raising; time grows with the
    size of the request (under a millisecond for 150 blocks of 160 KB).
    """
    given: object = params
    if not isinstance(given, Mapping):
        return (Finding("V26", "params", f"the request is not an object but {type(given).__name__}"),)
    found: list[Finding] = []
    shape.check_head(params, found)
    messages = shape.check_messages(params.get("messages"), paused_tail, found)
    calls.check(messages, bool(params.get("tools")), paused_tail, found)
    marks.check(params, messages, found)
    encoding.check(params, found)
    return tuple(found)
