"""What the conversation of a recorded session is called: always the same, however much the recording has grown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from contextmgr import jsontext
from contextmgr.errors import ScopeError
from contextmgr.scope import check_name
from contextmgr.transcripts import Session
from contextmgr.transcripts.fields import mapping, text
from contextmgr.transcripts.recorded_file import RecordedFile, stem

_DIGITS = 8  # of the digest that tells recordings apart which have no id of their own


def conversation_name(recorded: RecordedFile, session: Session) -> str:
    """The id that the recording gives its session; else the file's name with a digest of the first message.

    Further conversations of one file have their number behind it.
    """
    own = next(filter(None, _given(recorded, session.format)), None)
    if own is None:
        first = jsontext.dumps(list(session.events[0].blocks))
        own = f"{jsontext.sendable(stem(recorded.file))}-{jsontext.sha256(first)[:_DIGITS]}"
    return f"{own}-{session.index}" if session.index else own


def _given(recorded: RecordedFile, format: str) -> Iterator[str | None]:
    """Ids in the recording, the best first."""
    ids = _IDS.get(format)
    found = [given for given in (ids(recorded) if ids else ()) if _is_name(given)]
    named = stem(recorded.file)
    yield named if named in found else None  # a resumed session may hold lines of the one it goes on from
    yield from found


def _claude_code(recorded: RecordedFile) -> list[str]:
    lines = [mapping(r.value) for r in recorded.records]
    ids = [text(line.get("sessionId")) for line in lines if line.get("isSidechain") is not True]
    return list(dict.fromkeys(i for i in reversed(ids) if i))


def _codex(recorded: RecordedFile) -> list[str]:
    return _first(recorded, lambda line: line.get("type") == "session_meta", lambda line: mapping(line.get("payload")))


def _pi(recorded: RecordedFile) -> list[str]:
    return _first(recorded, lambda line: line.get("type") == "session", lambda line: line)


def _first(
    recorded: RecordedFile,
    is_head: Callable[[Mapping[str, Any]], bool],
    holder: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> list[str]:
    head = next((line for r in recorded.records if is_head(line := mapping(r.value))), {})
    found = text(holder(head).get("id"))
    return [found] if found else []


def _is_name(given: str) -> bool:
    try:
        check_name("conversation", given)
    except ScopeError:
        return False
    return True


_IDS: Mapping[str, Callable[[RecordedFile], list[str]]] = {"claude-code": _claude_code, "codex": _codex, "pi": _pi}
