"""The same face, awaited: every method runs its sync twin in a small thread pool of the manager's own.

Written once: `_awaited` turns a method of the sync class into a coroutine method with the same signature.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Protocol, Self, TypeVar, cast

from contextmgr.conversation import Conversation
from contextmgr.counters import TokenCounter
from contextmgr.errors import StoreError
from contextmgr.facts import Fact, FactAuthor
from contextmgr.knowledge import Facts, Model, Notes, TypedState
from contextmgr.lookups import History, Pins, ProjectPins
from contextmgr.manager import Manager
from contextmgr.models import ModelTable
from contextmgr.profiles import Profile
from contextmgr.recall import ChatUrl
from contextmgr.scope import Scope, Visibility
from contextmgr.store import Store
from contextmgr.store.sqlite import Durability

if TYPE_CHECKING:
    from contextmgr.embedders import Embedder
    from contextmgr.recall.runner import AsyncRecallTool
    from contextmgr.writers import Writer

THREADS = 4
P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")


class _Twin(Protocol):
    _sync: Any
    _pool: ThreadPoolExecutor


async def _in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    try:
        future = asyncio.get_running_loop().run_in_executor(pool, work)
    except RuntimeError as error:  # the pool takes nothing any more
        raise StoreError("the manager is closed; open a new AsyncManager") from error
    return await future


def _awaited(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def call(self: _Twin, *args: P.args, **kwargs: P.kwargs) -> T:
        work = cast("Callable[[], T]", partial(method, self._sync, *args, **kwargs))
        return await _in(self._pool, work)

    return cast("Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]", call)


class AsyncPins:
    """`Pins`, awaited."""

    def __init__(self, pins: Pins, pool: ThreadPoolExecutor) -> None:
        self._sync, self._pool = pins, pool

    list = _awaited(Pins.list)
    add = _awaited(Pins.add)
    replace = _awaited(Pins.replace)
    revoke = _awaited(Pins.revoke)


class AsyncHistory:
    """`History`, awaited."""

    def __init__(self, history: History, pool: ThreadPoolExecutor) -> None:
        self._sync, self._pool = history, pool

    turn = _awaited(History.turn)
    turns = _awaited(History.turns)
    count = _awaited(History.count)


class AsyncFacts:
    """`Facts`, awaited."""

    def __init__(self, facts: Facts, pool: ThreadPoolExecutor) -> None:
        self._sync, self._pool = facts, pool

    set = _awaited(Facts.set)
    get = _awaited(Facts.get)
    history = _awaited(Facts.history)
    list = _awaited(Facts.list)


class AsyncNotes:
    """`Notes`, awaited."""

    def __init__(self, notes: Notes, pool: ThreadPoolExecutor) -> None:
        self._sync, self._pool = notes, pool

    set = _awaited(Notes.set)
    append = _awaited(Notes.append)
    get = _awaited(Notes.get)
    list = _awaited(Notes.list)
    drop = _awaited(Notes.drop)


class AsyncTypedState(Generic[Model]):
    """`TypedState`, awaited."""

    def __init__(self, state: TypedState[Model], pool: ThreadPoolExecutor) -> None:
        self._sync, self._pool = state, pool

    async def get(self) -> Model | None:
        """See `TypedState.get`."""
        return await _in(self._pool, self._sync.get)

    async def facts(self) -> dict[str, Fact]:
        """See `TypedState.facts`."""
        return await _in(self._pool, self._sync.facts)

    async def set(self, state: Model, *, turn: int | None = None, author: FactAuthor = "user") -> Model:
        """See `TypedState.set`."""
        return await _in(self._pool, partial(self._sync.set, state, turn=turn, author=author))

    async def update(
        self, changes: Mapping[str, Any], *, turn: int | None = None, author: FactAuthor = "user"
    ) -> Model:
        """See `TypedState.update`."""
        return await _in(self._pool, partial(self._sync.update, changes, turn=turn, author=author))


class AsyncProjectPins:
    """`ProjectPins`, awaited."""

    def __init__(self, pins: ProjectPins, pool: ThreadPoolExecutor) -> None:
        self._sync, self._pool = pins, pool

    list = _awaited(ProjectPins.list)
    add = _awaited(ProjectPins.add)
    revoke = _awaited(ProjectPins.revoke)


class AsyncConversation:
    """`Conversation`, awaited."""

    def __init__(self, conversation: Conversation, pool: ThreadPoolExecutor) -> None:
        self._sync, self._pool = conversation, pool
        self.pins = AsyncPins(conversation.pins, pool)
        self.history = AsyncHistory(conversation.history, pool)
        self.facts = AsyncFacts(conversation.facts, pool)
        self.notes = AsyncNotes(conversation.notes, pool)

    @property
    def id(self) -> str:
        """The id given to ``AsyncManager.conversation``."""
        return self._sync.id

    @property
    def scope(self) -> Scope:
        """The tenant, user and project whose conversation this is."""
        return self._sync.scope

    add_user = _awaited(Conversation.add_user)
    add_reply = _awaited(Conversation.add_reply)
    add_tool_results = _awaited(Conversation.add_tool_results)
    interrupt = _awaited(Conversation.interrupt)
    assemble = _awaited(Conversation.assemble)
    request_at = _awaited(Conversation.request_at)
    sync = _awaited(Conversation.sync)
    set_task = _awaited(Conversation.set_task)
    drop_task = _awaited(Conversation.drop_task)
    withdraw = _awaited(Conversation.withdraw)
    restore = _awaited(Conversation.restore)
    compactions = _awaited(Conversation.compactions)
    pending = _awaited(Conversation.pending)
    undo = _awaited(Conversation.undo)
    search = _awaited(Conversation.search)

    def state(self, model: type[Model]) -> AsyncTypedState[Model]:
        """A pydantic model of yours as typed state; see `Conversation.state`."""
        return AsyncTypedState(self._sync.state(model), self._pool)

    def recall_tools(self) -> list[dict[str, Any]]:
        """The tools' definitions; see `Conversation.recall_tools`."""
        return self._sync.recall_tools()

    handle_tool_use = _awaited(Conversation.handle_tool_use)

    def recall_runner_tools(self) -> list[AsyncRecallTool]:
        """The same tools for the async client's tool runner; see `Conversation.recall_runner_tools`."""
        from contextmgr.recall.runner import AsyncRecallTool

        return [AsyncRecallTool(tool) for tool in self._sync.recall_runner_tools()]

    suggest_pins = _awaited(Conversation.suggest_pins)
    handoff = _awaited(Conversation.handoff)
    close = _awaited(Conversation.close)
    erase_turn = _awaited(Conversation.erase_turn)
    erase = _awaited(Conversation.erase)


class AsyncManager:
    """`Manager`, awaited.  Opening the store happens here and now; everything after runs in the pool."""

    def __init__(
        self,
        store: str | Path | Store = "sqlite:///contextmgr.db",
        *,
        profile: str | int | Path | Profile | None = None,
        models: str | Path | ModelTable | None = None,
        durability: Durability = "process",
        wait: float = 30.0,
        zone: str = "UTC",
        counter: TokenCounter | None = None,
        clock: Callable[[], datetime] | None = None,
        summarizer: Literal["extractive"] | Writer | None = None,
        summarizer_timeout: float = 120.0,
        background: bool = True,
        prompts: str | Path | None = None,
        embedder: Embedder | None = None,
        describer: Literal["plain"] | Writer | None = None,
        extractor: Writer | None = None,
        query_writer: Writer | None = None,
        chat_url: ChatUrl | None = None,
    ) -> None:
        self._sync = Manager(
            store,
            profile=profile,
            models=models,
            durability=durability,
            wait=wait,
            zone=zone,
            counter=counter,
            clock=clock,
            summarizer=summarizer,
            summarizer_timeout=summarizer_timeout,
            background=background,
            prompts=prompts,
            embedder=embedder,
            describer=describer,
            extractor=extractor,
            query_writer=query_writer,
            chat_url=chat_url,
        )
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="contextmgr")

    @property
    def profile(self) -> Profile:
        """The budget profile in force."""
        return self._sync.profile

    async def conversation(
        self,
        conversation: str,
        *,
        tenant: str,
        user: str | None = None,
        project: str | None = None,
        title: str | None = None,
        zone: str | None = None,
        visibility: Visibility | str = Visibility.NORMAL,
        recall_projects: Iterable[str] = (),
    ) -> AsyncConversation:
        """Open a conversation, or begin it; see `Manager.conversation`."""
        work = partial(
            self._sync.conversation,
            conversation,
            tenant=tenant,
            user=user,
            project=project,
            title=title,
            zone=zone,
            visibility=visibility,
            recall_projects=recall_projects,
        )
        return AsyncConversation(await self._run(work), self._pool)

    conversations = _awaited(Manager.conversations)

    def project_pins(self, *, tenant: str, project: str) -> AsyncProjectPins:
        """The operator's pins for a project; see `Manager.project_pins`."""
        return AsyncProjectPins(self._sync.project_pins(tenant=tenant, project=project), self._pool)

    extract = _awaited(Manager.extract)
    flush = _awaited(Manager.flush)

    async def close(self, timeout: float = 5.0) -> None:
        """Finish what was begun, then close the store and the pool.  Closing twice is fine."""
        await asyncio.to_thread(self._pool.shutdown)
        await asyncio.to_thread(self._sync.close, timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, work: Callable[[], T]) -> T:
        return await _in(self._pool, work)
