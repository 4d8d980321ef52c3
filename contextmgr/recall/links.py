"""Links to chats, by a format string or a function of the caller's."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from contextmgr import jsontext
from contextmgr.errors import InputError

ChatUrl = str | Callable[[str, int], str | None]
"""A format string with ``{chat_id}`` and ``{first}`` (percent-encoded id, first turn), or a function of the two."""
MAX_URL = 1_000  # characters; a longer one is left out, since half of one leads nowhere


def check_chat_url(chat_url: ChatUrl | None) -> None:
    """Raise `InputError` for what makes no links."""
    if chat_url is None or callable(chat_url):
        return
    try:
        chat_url.format(chat_id="", first=1)
    except (AttributeError, LookupError, ValueError, TypeError) as error:
        raise InputError(
            f"chat_url={chat_url!r} must be a function, or a format string with {{chat_id}} and {{first}} only: {error}"
        ) from error


def link(chat_url: ChatUrl | None, chat_id: str, first: int) -> str | None:
    """The address of a chat at a turn, or None."""
    if chat_url is None:
        return None
    url = chat_url(chat_id, first) if callable(chat_url) else _formatted(chat_url, chat_id, first)
    return jsontext.sendable(url) if url is not None and len(url) <= MAX_URL else None


def _formatted(chat_url: str, chat_id: str, first: int) -> str:
    return chat_url.format(chat_id=quote(chat_id, safe=""), first=first)
