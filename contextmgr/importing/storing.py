"""Adding to a conversation what its recording says beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contextmgr import jsontext
from contextmgr.conversation import Conversation
from contextmgr.errors import ConflictError, InputError, OpenTurnError
from contextmgr.importing.comparing import Piece, beyond
from contextmgr.importing.recordings import Found
from contextmgr.manager import Manager
from contextmgr.profiles import load_profile
from contextmgr.recall import made_title
from contextmgr.replay.timing import STEP, Clock, moments
from contextmgr.scope import Scope
from contextmgr.store import Store
from contextmgr.transcripts import Event, Replied, Returned, Said, Session
from contextmgr.turns import Status, Turn


class Outcome(StrEnum):
    """What importing a session came to."""

    NEW = "new"
    CONTINUED = "continued"
    UNCHANGED = "unchanged"
    CHANGED = "changed past"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One session: its conversation, what came of it, how many turns were added, and why not all."""

    conversation: str
    file: str
    outcome: Outcome
    turns: int = 0
    reason: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether everything the recording says is stored now."""
        return self.reason is None


class Import:
    """Imports sessions into one scope of a store, through a manager of its own; close it when done.

    Nothing else may use the manager's clock: conversations begin when their recording did.
    """

    def __init__(self, store: Store, scope: Scope) -> None:
        self._clock = Clock()
        unpinned = {"pin_first_user_turn": False}  # a recording gives nothing authority
        profile = load_profile(None).model_copy(update=unpinned)
        self._manager = Manager(store, profile=profile, clock=self._clock, background=False)
        self._store = store
        self._scope = scope

    def add(self, found: Found) -> Imported:
        """Add what is new in a session.

        A changed past, and a message that cannot be stored, is an outcome; what came before it stays.  Raises
        `StoreError` where the store cannot be used.
        """
        times = _times(found)
        self._clock.now = times[0]
        scope = self._scope
        before = self._turns(found.name)
        adding = _Adding(found, times)
        outcome, reason = Outcome.NEW if before is None else Outcome.CONTINUED, None
        try:
            pieces = beyond(found.session.events, before or ())
            chat = self._manager.conversation(found.name, tenant=scope.tenant, user=scope.user, project=scope.project)
            adding.all(chat, pieces)
        except ConflictError as error:
            outcome, reason = Outcome.CHANGED, str(error)
        except InputError as error:
            outcome, reason = Outcome.REFUSED, f"{type(error).__name__}: {error}"
        if outcome is Outcome.CONTINUED and not adding.did:
            outcome = Outcome.UNCHANGED
        if adding.did:
            self._entitle(found)
        return Imported(
            conversation=found.name,
            file=found.session.file,
            outcome=outcome,
            turns=len(adding.turns),
            reason=reason,
        )

    def index(self, timeout: float) -> int:
        """Index what was added, beginning nothing after ``timeout`` seconds; how many turns are left."""
        return self._manager.flush(timeout)

    def close(self) -> None:
        """Close the manager and the store."""
        self._manager.close()

    def _turns(self, name: str) -> list[Turn] | None:
        """All turns of a conversation, or None where there is no such."""
        with self._store.reading(self._scope) as tx:
            record = tx.conversation(name)
            return None if record is None else tx.turns(name, 1, record.last_turn)

    def _entitle(self, found: Found) -> None:
        """Title a conversation that has none by its recording or its first request; never again once one was erased."""
        title = _title(found.session)
        with self._store.writing(self._scope) as tx:
            record = tx.conversation(found.name)
            if record is None or title is None or title == record.title:
                return
            is_better = record.title is None or (record.title_made and found.session.title is not None)
            is_whole = all(t.status is not Status.ERASED for t in tx.turns(found.name, 1, record.last_turn))
            if is_better and is_whole:
                tx.set_title(found.name, title, made=True)


class _Adding:
    """Adds pieces one by one and keeps count."""

    def __init__(self, found: Found, times: Sequence[datetime]) -> None:
        self._times = times
        self.turns: set[int] = set()
        self.did = False

    def all(self, chat: Conversation, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            try:
                self._add(chat, piece)
            except OpenTurnError:
                if piece.is_last:
                    return  # still being recorded; it goes on once the results are there
                chat.interrupt()
                self._add(chat, piece)

    def _add(self, chat: Conversation, piece: Piece) -> None:
        turn = add_piece(chat, piece, self._times[piece.index])
        self.did = True
        if not isinstance(piece.event, Returned):
            self.turns.add(turn.number)


def add_piece(chat: Conversation, piece: Piece, at: datetime) -> Turn:
    """Store one piece.  Recorded usage is left out: it belongs to requests that this conversation never made.

    The key makes two imports at a time store it once.
    """
    event = piece.event
    key = f"import:{piece.index}:{piece.start}:{len(event.blocks)}"
    if isinstance(event, Returned):
        return chat.add_tool_results(event.blocks, said_at=at)
    if isinstance(event, Replied):
        answer = {"content": event.blocks, "stop_reason": event.stop_reason, "model": event.model or "unknown"}
        return chat.add_reply(answer, key=key, said_at=at)
    return chat.add_user(event.blocks, key=key, metadata=_metadata(event), said_at=at)


def _metadata(said: Said) -> dict[str, object]:
    """Where a message stands in its recording, and whether the client rather than a person said it."""
    metadata: dict[str, object] = {} if said.human else {"human": False}
    return metadata if said.source is None else {"source": jsontext.sendable(said.source), **metadata}


def _times(found: Found) -> list[datetime]:
    """One time per event; a recording without any ends when its file was last written to."""
    events: Sequence[Event] = found.session.events
    if any(e.at is not None for e in events):
        return moments(events)
    return [found.written - STEP * behind for behind in range(len(events) - 1, -1, -1)]


def _title(session: Session) -> str | None:
    """The title that was recorded, else one made of the first request of a person."""
    if session.title and session.title.strip():
        return jsontext.sendable(" ".join(session.title.split()))
    requests = (e for e in session.events if isinstance(e, Said) and e.human)
    texts = ("\n".join(str(b["text"]) for b in e.blocks if b["type"] == "text") for e in requests)
    return next((title for text in texts if (title := made_title(text))), None)
