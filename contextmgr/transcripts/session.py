"""Values of a recorded session: what was said, replied and returned, in an order a conversation can be rebuilt from.

Laws, kept by `contextmgr.transcripts.recorder`:
- a session begins with a `Said`: there is always something for the first reply to answer;
- a `Returned` holds results of calls of the last `Replied` only, so a result never precedes its call;
- between two `Replied` all `Returned` come before any `Said`;
- a `Replied` whose calls are not all answered is followed, before the next `Replied`, by a `Said` or the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contextmgr.errors import TurnError
from contextmgr.turns import Block, Usage, check_assistant, check_result, check_user


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One user message, without tool results.

    ``human`` is true for the words of whoever gave the work, false for what the recorded client put in by itself
    (notices, command output, skills, demonstrations, observations).  ``source`` finds the message in the file: the
    line's ``uuid``, or ``line:N`` / ``message:N`` counted from 0.  Raises `TurnError` for what no user can say.
    """

    blocks: tuple[Block, ...]
    at: datetime | None = None
    source: str | None = None
    human: bool = True

    def __post_init__(self) -> None:
        check_user(self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """One assistant message, all its blocks joined; no blocks at all is an answer cancelled before it began.

    ``usage`` is as recorded (tokens), ``at`` the time of its first line, ``stop_reason`` as recorded (None when the
    format has none).  Raises `TurnError` for what no model can say.
    """

    blocks: tuple[Block, ...]
    stop_reason: str | None = None
    model: str | None = None
    usage: Usage | None = None
    at: datetime | None = None
    message_id: str | None = None

    def __post_init__(self) -> None:
        check_assistant(self.blocks)

    @property
    def calls(self) -> tuple[Block, ...]:
        """The client tool calls, in order."""
        return tuple(b for b in self.blocks if b["type"] == "tool_use")


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """Results of calls of the last `Replied`, as they came; one reply may have several of these.

    ``blocks`` are ``tool_result`` blocks, at least one.  Raises `TurnError` otherwise.
    """

    blocks: tuple[Block, ...]
    at: datetime | None = None

    def __post_init__(self) -> None:
        if not self.blocks:
            raise TurnError("a Returned needs at least one tool_result block")
        for block in self.blocks:
            check_result(block)


Event = Said | Replied | Returned


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One recorded conversation.

    ``index`` counts the conversations of a file from 0.  ``tools`` are Anthropic tool schemas, () when the recording
    has none; ``tool_names`` are the names called, in first-seen order.  ``client_compactions`` counts how often the
    recorded client replaced its history by a summary.  ``skipped`` counts what was not understood or not kept (broken
    or unknown lines, results without a call, model replies made by the client, opaque reasoning); lines that are
    known to be bookkeeping of the client are not counted.  ``sidechain`` marks a sub-agent's conversation.
    """

    file: str
    format: str
    index: int
    events: tuple[Event, ...]
    system: str | None = None
    tools: tuple[dict[str, object], ...] = ()
    tool_names: tuple[str, ...] = ()
    client_compactions: int = 0
    skipped: int = 0
    title: str | None = None
    sidechain: bool = False

    @property
    def replies(self) -> tuple[Replied, ...]:
        """The assistant messages, in order: one per recorded model call."""
        return tuple(e for e in self.events if isinstance(e, Replied))


def names_called(events: Sequence[Event]) -> tuple[str, ...]:
    """Names of the tools called in these events, in first-seen order."""
    calls = (c for e in events if isinstance(e, Replied) for c in e.calls)
    return tuple(dict.fromkeys(str(c["name"]) for c in calls))
