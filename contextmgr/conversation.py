"""One conversation: what was said is added, the next request is assembled, and anything can be looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from contextmgr import jsontext
from contextmgr.assembly import AssembledRequest, Assembler
from contextmgr.errors import InputError, NotFoundError, TurnError
from contextmgr.handing_over import Handoff, handoff
from contextmgr.incoming import checked_key, checked_metadata, has_calls, result_block, stored_message
from contextmgr.keeping import Keeping
from contextmgr.knowledge import Facts, Model, Notes, TypedState
from contextmgr.lookups import History, PinArgument, Pins
from contextmgr.pinning import Pinning
from contextmgr.recall import Recall
from contextmgr.recording import Recorder, Reply, no_conversation
from contextmgr.replies import to_reply
from contextmgr.retrieval import Searcher, SearchHit
from contextmgr.scope import Scope, Visibility
from contextmgr.store import Job, Transaction
from contextmgr.store.state_base import AuditRecord
from contextmgr.suggestions import Suggestion, suggest
from contextmgr.summaries import Segment
from contextmgr.syncing import Item, after, carries_on, items_of, new_turns, stored_items
from contextmgr.tasks import TaskDocument, check_task
from contextmgr.tokens import text_features
from contextmgr.turns import Block, Turn, check_assistant, check_user, to_blocks
from contextmgr.undoing import break_epoch, erase_turn, set_withdrawn, undo

if TYPE_CHECKING:
    from contextmgr.recall.runner import RecallTool

SUGGEST_FROM = 200  # turns: how far back suggest_pins() looks by default


class Conversation:
    """A conversation in one scope.  Made by ``Manager.conversation``; any number of them may share one id.

    ``pins``, ``history``, ``facts`` and ``notes`` hold what concerns those.
    """

    def __init__(
        self,
        name: str,
        recorder: Recorder,
        assembler: Assembler,
        pinning: Pinning,
        searcher: Searcher,
        keeping: Keeping,
        recall: Recall,
        on_turn: Callable[[Turn], None],
        on_end: Callable[[], None],
    ) -> None:
        self._name = name
        self._recorder = recorder
        self._assembler = assembler
        self._pinning = pinning
        self._store = recorder.store
        self._searcher = searcher
        self._keeping = keeping
        self._recall = recall
        self._on_turn = on_turn
        self._on_end = on_end
        self.pins = Pins(name, pinning)
        self.history = History(name, recorder)
        self.facts = Facts(name, keeping)
        self.notes = Notes(name, keeping)

    @property
    def id(self) -> str:
        """The id given to ``Manager.conversation``."""
        return self._name

    @property
    def scope(self) -> Scope:
        """The tenant, user and project whose conversation this is."""
        return self._recorder.scope

    def add_user(
        self,
        content: str | Iterable[Mapping[str, Any]],
        *,
        pin: PinArgument = False,
        quote: str | None = None,
        context: int | None = None,
        replaces: str | None = None,
        author: Literal["user", "operator"] = "user",
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        said_at: datetime | None = None,
    ) -> Turn:
        """Store what the user said, before the call returns.

        ``pin`` gives it authority (True: a constraint), or only the ``quote`` of it; ``context`` is the assistant
        turn that an approval or resolution answers; ``replaces`` is the id of a pin that gives way to it.
        ``author="operator"`` marks the operator's words.  ``key`` makes a retry the same turn.  Tool results at the
        start of ``content`` are stored with their calls; a turn still waiting for others is marked interrupted.

        Raises `TurnError`, `PinError`, `IdempotencyError` or `NotFoundError`; then nothing is stored.
        """
        if author not in ("user", "operator"):
            raise TurnError(f"author={author!r} is unknown; use 'user' or 'operator'")
        blocks = to_blocks(content)
        results = [result_block(b) for b in blocks if b["type"] == "tool_result"]
        said = [b for b in blocks if b["type"] != "tool_result"]
        check_user(said)
        wants_pin = bool(pin) or quote is not None or replaces is not None or context is not None

        def then(tx: Transaction, turn: Turn) -> None:
            if wants_pin:
                kind = pin if pin else True
                self._pinning.turn(tx, self._name, turn, kind=kind, quote=quote, context=context, replaces=replaces)
            elif self._pinning.profile.pin_first_user_turn and self._is_first(tx, turn):
                self._pinning.first_user_turn(tx, self._name, turn)

        turn = self._recorder.user(
            self._name,
            said,
            results=results,
            author=author,
            key=checked_key(key),
            metadata=checked_metadata(metadata),
            at=self._at(said_at),
            then=then,
        )
        self._on_turn(turn)
        return turn

    def add_reply(
        self,
        reply: object,
        *,
        request: AssembledRequest | int | None = None,
        key: str | None = None,
        said_at: datetime | None = None,
    ) -> Turn:
        """Store the model's answer: an SDK ``Message`` or the same as a dict.

        ``request`` is the one it answers; left out, the last one, where nothing has been said since.  Its usage, if
        it has any, anchors the size of the next request.  The same answer again is the same turn.

        Raises `TurnError`, `OpenTurnError`, `StaleReplyError` or `NotFoundError`; then nothing is stored.
        """
        message = to_reply(reply)
        check_assistant(message.blocks)
        number = request.number if isinstance(request, AssembledRequest) else request
        turn = self._recorder.reply(self._name, message, request=number, key=checked_key(key), at=self._at(said_at))
        self._on_turn(turn)
        return turn

    def add_tool_results(self, results: Iterable[Mapping[str, Any]], *, said_at: datetime | None = None) -> Turn:
        """Store results of the last turn's tool calls, some or all of them, in any order.

        A result for a turn that has gone on is kept as late and shown once.  Raises `TurnError` for an id no call
        has, `ResultConflictError` for another result of the same call; then nothing is stored.
        """
        blocks = [result_block(b) for b in to_blocks(list(results))]
        if not blocks:
            raise TurnError("add_tool_results() was given no results; give at least one tool_result block")
        turn = self._recorder.results(self._name, blocks, at=self._at(said_at))
        self._on_turn(turn)
        return turn

    def interrupt(self) -> Turn | None:
        """Say that the results still missing will not come; returns the turn, or None where none was open.

        Requests then answer those calls with an error that says the outcome is unknown.
        """
        return self._recorder.interrupt(self._name)

    def assemble(
        self,
        *,
        model: str,
        max_tokens: int,
        system: str | Iterable[Mapping[str, Any]] | None = None,
        tools: Iterable[Mapping[str, Any]] = (),
        thinking: Mapping[str, Any] | None = None,
    ) -> AssembledRequest:
        """Decide what the model gets to see next: a valid request within the budget, every active pin proved in it.

        ``max_tokens`` is the answer's limit and is reserved in the model's window.  Called again without anything
        new it returns the same request, byte for byte, and writes nothing.

        Raises `OpenTurnError` while tool results are missing, `NothingToAnswerError` where there is nothing to
        answer, `BudgetError` where what may never give way is too large, `InputError` for unusable arguments.
        """
        return self._assembler.assemble(
            self._name, model=model, max_tokens=max_tokens, system=system, tools=tools, thinking=thinking
        )

    def request_at(self, number: int) -> AssembledRequest:
        """Request ``number`` again, byte for byte.  Raises `NotFoundError`, or `ErasedError` if it showed a turn
        that was erased.
        """
        return self._assembler.request_at(self._name, number)

    def sync(self, messages: Iterable[Mapping[str, Any]]) -> list[Turn]:
        """Store what is new in a whole ``messages`` list and return those turns.

        The list is the conversation's own from its beginning, or the last request's carried on: its preface and
        attachments are recognised and not stored again.  Raises `HistoryConflictError` where the past was changed.
        """
        given = items_of([stored_message(m) for m in messages])
        found, number = self._beyond(given)
        stored: list[Turn] = []
        for turn in new_turns(found):
            if turn.role == "assistant":
                check_assistant(turn.blocks)
                reply = Reply(blocks=turn.blocks, stop_reason="tool_use" if has_calls(turn.blocks) else "end_turn")
                stored.append(self._recorder.reply(self._name, reply, request=number, at=self._at(None)))
            elif turn.blocks:
                stored.append(self.add_user([*turn.results, *turn.blocks]))
            elif turn.results:
                stored.append(self.add_tool_results(turn.results))
            number = None
        for said in stored[-1:]:
            self._on_turn(said)
        return stored

    def set_task(self, name: str, text: str) -> None:
        """Set a task document, or change it: it stands whole in every request from the next one on.

        A change starts a new epoch.  Raises `TaskError`.
        """
        check_task(name, text)
        weight = text_features(text, self._recorder.count)
        document = TaskDocument(name=name, text=text, sha256=jsontext.sha256(text), features=weight)
        with self._store.writing(self.scope) as tx:
            self._require(tx)
            if document not in tx.tasks(self._name):
                tx.set_task(self._name, document, self._at(None))
                break_epoch(tx, self._name, "task changed")

    def drop_task(self, name: str) -> None:
        """Take a task document away.  Raises `NotFoundError`."""
        with self._store.writing(self.scope) as tx:
            if not tx.drop_task(self._name, name):
                raise NotFoundError(f"there is no task document {name!r} in conversation {self._name!r}")
            break_epoch(tx, self._name, "task dropped")

    def withdraw(self, turn: int, reason: str) -> Turn:
        """Keep a turn out of requests from the next one on: a record with its reason, the turn itself stays stored.

        For refused answers, unreadable images, or a turn too large for the budget.  A pin it said stays in force; a
        summary that read it is shown no more.
        """
        if not isinstance(reason, str) or not reason.strip():
            raise InputError(f"withdraw() needs a reason, not {reason!r}")
        with self._store.writing(self.scope) as tx:
            return set_withdrawn(tx, self._name, turn, jsontext.sendable(reason))

    def restore(self, turn: int) -> Turn:
        """Let a withdrawn turn stand in requests again, where the window still reaches it."""
        with self._store.writing(self.scope) as tx:
            return set_withdrawn(tx, self._name, turn, None)

    def compactions(self) -> list[Segment]:
        """Every summary segment made of this conversation, whatever became of it, as they were made."""
        with self._store.reading(self.scope) as tx:
            self._require(tx)
            return tx.segments(self._name, every=True)

    def pending(self) -> list[Job]:
        """Work that is left in the outbox, failed work with its error included."""
        with self._store.reading(self.scope) as tx:
            return [job for job in tx.jobs(self._name) if job.last >= job.first]  # others are bookmarks

    def undo(self, compaction: str) -> Segment:
        """Take a summary segment back: its turns stand verbatim again from the next request on.

        They stand ahead of others while they fit; the next ``assemble`` raises `BudgetError` where they alone do not.
        Raises `NotFoundError` for an id unknown, `ConflictError` for a segment that is not in force.
        """
        with self._store.writing(self.scope) as tx:
            return undo(tx, self._name, compaction)

    def search(self, query: str, *, k: int = 8) -> list[SearchHit]:
        """The at most ``k`` turns that answer a query best, best first; [] where it holds nothing to look for.

        The query is text, never grammar.  Withdrawn and erased turns are not found; turns said just now are.
        What was looked for and found is put down in the audit.  Raises `InputError` for a query that is no text or a
        ``k`` that is no number from 1 to 100.
        """
        hits = self._searcher.search(self._name, query, k)
        found = tuple({"chat": self._name, "turns": [h.turn], "score": h.score} for h in hits)
        with self._store.writing(self.scope) as tx:
            tx.state.audit(
                AuditRecord(
                    action="search", conversation=self._name, query=query, found=found, at=self._assembler.clock()
                )
            )
        return hits

    def state(self, model: type[Model]) -> TypedState[Model]:
        """A pydantic model of yours as typed state: one fact per field, validated on every write.

        Raises `FactError` for what is no pydantic model.
        """
        return TypedState(model, self._name, self._keeping)

    def recall_tools(self) -> list[dict[str, Any]]:
        """Tools by which the model looks things up and keeps notes, for ``tools=`` of ``assemble``: give them from the
        first call on, since a changed tool list starts a new epoch.
        """
        return self._recall.definitions()

    def handle_tool_use(self, block: object) -> Block:
        """Answer one call of those tools: a ``tool_use`` block in, a ``tool_result`` block out.

        Whatever is wrong with the call stands in the result, as an error for the model.  Every call is audited.
        """
        return self._recall.handle(self._name, block)

    def recall_runner_tools(self) -> list[RecallTool]:
        """The same tools for the SDK's ``client.beta.messages.tool_runner``."""
        from contextmgr.recall.runner import runner_tools

        return runner_tools(self._recall, self._name)

    def suggest_pins(self, last: int = SUGGEST_FROM) -> list[Suggestion]:
        """Statements among the last ``last`` turns that may deserve a pin, strongest first.  Pins nothing."""
        with self._store.reading(self.scope) as tx:
            record = self._require(tx)
            turns = tx.turns_before(self._name, record.last_turn, last)
            pinned = {p.turn for p in tx.pins(self._name) if p.is_active}
        return suggest([t for t in turns if t.number not in pinned])

    def handoff(self) -> Handoff:
        """What whoever continues needs: pins, decisions, open questions, next steps, files, facts and notes, each with
        its turns.  ``.text()`` gives it as text.  It asks no model and writes nothing.
        """
        with self._store.reading(self.scope) as tx:
            return handoff(tx, self._name, self._recorder.count)

    def close(self) -> None:
        """End the conversation for now: in the background, facts that outlive it are looked for in what was said, where
        the profile's ``memory`` is not ``blank``.  An incognito conversation is erased.  It may go on at any time.
        """
        with self._store.reading(self.scope) as tx:
            record = self._require(tx)
        if record.visibility is Visibility.INCOGNITO:
            self.erase()
        else:
            self._on_end()

    def erase_turn(self, turn: int) -> None:
        """Erase a turn and every copy of it; its number stays.  Erasing again is fine."""
        with self._store.writing(self.scope) as tx:
            erase_turn(tx, self._name, turn)
        self._store.scrub()

    def erase(self) -> None:
        """Erase the whole conversation.  Erasing again is fine."""
        with self._store.writing(self.scope) as tx:
            tx.erase_conversation(self._name)
        self._store.scrub()

    def _beyond(self, given: Sequence[Item]) -> tuple[list[Item], int | None]:
        """The items that are not stored yet, and the number of the request that the first of them answers."""
        with self._store.reading(self.scope) as tx:
            record = self._require(tx)
            last = tx.last_request(self._name)
            recent = list(stored_items(tx.turns(self._name, last.tail + 1, record.last_turn))) if last else []
        if last is not None:
            sent = items_of([stored_message(m) for m in self.request_at(last.number).params["messages"]])
            if carries_on(sent, given):
                rest = after(recent, after(sent, given, what="the last request"), what="the turns stored since")
                return rest, None if recent else last.number
        with self._store.reading(self.scope) as tx:
            known = list(stored_items(tx.turns(self._name, 1, record.last_turn)))
        return after(known, given, what="the stored turns"), None

    def _require(self, tx: Transaction) -> Any:
        record = tx.conversation(self._name)
        if record is None:
            raise no_conversation(self._name)
        return record

    def _is_first(self, tx: Transaction, turn: Turn) -> bool:
        return turn.author == "user" and (turn.number == 1 or not tx.has_user(self._name, turn.number - 1))

    def _at(self, said_at: datetime | None) -> datetime:
        at = said_at if said_at is not None else self._assembler.clock()
        if at.tzinfo is None:
            raise InputError(f"said_at={at!r} has no time zone; give an aware datetime")
        return at.astimezone(UTC)
