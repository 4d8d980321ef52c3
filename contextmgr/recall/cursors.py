"""Where a list of chats goes on: opaque to the model, checked when it comes back."""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime

from contextmgr import jsontext
from contextmgr.micros import to_micros
from contextmgr.recall.arguments import ArgumentError, shown

_MOST = 1 << 62  # microseconds


def cursor_after(order: str, used: datetime, conversation: str) -> str:
    """The cursor that goes on after a chat, given its last use and id."""
    text = jsontext.dumps([order, to_micros(used), conversation])
    return base64.urlsafe_b64encode(text.encode("ascii")).decode("ascii")


def read_cursor(text: str, order: str) -> tuple[int, str]:
    """Last use (microseconds since 1970, UTC) and id of the chat to go on after.  Raises `ArgumentError`."""
    try:
        made_for, micros, conversation = json.loads(base64.urlsafe_b64decode(text.encode("ascii")))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise _refused(text) from None
    if type(micros) is not int or not isinstance(conversation, str) or not jsontext.is_sendable(conversation):
        raise _refused(text)
    if abs(micros) > _MOST:
        raise _refused(text)
    if made_for != order:
        raise ArgumentError(
            f"cursor belongs to order={shown(made_for)}, not {order!r}; give the order it was made with"
        )
    return micros, conversation


def _refused(text: str) -> ArgumentError:
    return ArgumentError(f"cursor={shown(text)} is not one; give next_cursor of an earlier answer as it was, or none")
