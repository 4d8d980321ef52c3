"""The tables, for every store.  They never leave ``store/``: rows become values at its border.

All keys lead with tenant.  ``conv`` is the conversation's key: a digest over tenant, user, project and id, so that
a row of another scope cannot even be named.  JSON is ASCII text, times are microseconds since 1970 in UTC, feature
vectors are numbers as text; every column is text, a 64-bit integer or bytes, so every store gives back what it got.

`REACH` says for each table how a turn reaches it: the registry that erasing works through.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import BigInteger, Index, LargeBinary, text
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

_registry = registry()


class Base(SQLModel, registry=_registry):
    """Own registry, so that an application's SQLModel tables and ours never meet."""


class Migration(Base, table=True):
    """Which schema changes were applied."""

    name: str = Field(primary_key=True)
    applied_at: int = Field(sa_type=BigInteger)


class Conversation(Base, table=True):
    """One row per conversation; ``version`` guards commits, ``open_turn`` waits for results; ``title_made`` is 1 where
    the title was made from what was said.
    """

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    id: str
    user: str | None
    project: str | None
    title: str | None
    zone: str
    visibility: str
    last_turn: int = Field(sa_type=BigInteger)
    open_turn: int | None = Field(sa_type=BigInteger)
    version: int = Field(sa_type=BigInteger)
    created_at: int = Field(sa_type=BigInteger)
    updated_at: int = Field(sa_type=BigInteger)
    title_made: int
    __table_args__ = (Index("ix_conversation_scope", "tenant", "user", "project", "updated_at"),)


class Turn(Base, table=True):
    """One row per turn, insert-only but for status, withdrawal and tombstone."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    n: int = Field(primary_key=True, sa_type=BigInteger)
    role: str
    author: str
    status: str
    stop_reason: str | None
    body: str
    features: str
    sha256: str
    sendable: int
    model: str | None
    usage: str | None
    request_seq: int | None = Field(sa_type=BigInteger)
    idem_key: str | None
    withdrawn: str | None
    metadata_: str | None
    said_at: int = Field(sa_type=BigInteger)


class Result(Base, table=True):
    """Results of tool calls; ``late`` is 0 in place, 1 late, 2 late and shown."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    n: int = Field(primary_key=True, sa_type=BigInteger)
    ord: int = Field(primary_key=True)
    call: int
    body: str
    late: int
    sendable: int
    features: str
    sha256: str
    said_at: int = Field(sa_type=BigInteger)


class Pin(Base, table=True):
    """Pins; ``conv`` is null for an operator's project pin."""

    tenant: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    conv: str | None
    user: str | None
    project: str | None
    ord: int = Field(sa_type=BigInteger)
    n: int | None = Field(sa_type=BigInteger)
    block: int | None
    start: int | None
    end: int | None
    text: str
    sha256: str
    kind: str
    author: str
    context_n: int | None = Field(sa_type=BigInteger)
    status: str
    replaced_by: str | None
    reason: str | None
    tokens: int
    said_at: int = Field(sa_type=BigInteger)
    __table_args__ = (
        Index("ix_pin_conv", "tenant", "conv", "status"),
        Index("ix_pin_project", "tenant", "project", "status"),
    )


class Head(Base, table=True):
    """Model, system, tools and thinking settings, content-addressed."""

    tenant: str = Field(primary_key=True)
    sha256: str = Field(primary_key=True)
    body: str


class Epoch(Base, table=True):
    """Epochs with their prefaces as rendered; ``state`` is the last change of the state that the preface holds."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    no: int = Field(primary_key=True, sa_type=BigInteger)
    first: int = Field(sa_type=BigInteger)
    opened_at: int = Field(sa_type=BigInteger)
    head_sha: str
    why: str
    preface: str
    tiers: str
    hidden: str
    kept: str
    ttl: str
    keeps_round: int
    broken: str | None
    at: int = Field(sa_type=BigInteger)
    state: int = Field(sa_type=BigInteger)


class View(Base, table=True):
    """Forms of results and attachments, as rendered."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    epoch: int = Field(primary_key=True, sa_type=BigInteger)
    ord: int = Field(primary_key=True)
    n: int = Field(sa_type=BigInteger)
    kind: str
    call: int | None
    form: str | None
    ref: str | None
    block: str
    features: str


class Request(Base, table=True):
    """Every request issued, enough to give its bytes again."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    epoch: int = Field(sa_type=BigInteger)
    tail: int = Field(sa_type=BigInteger)
    rows: int
    max_tokens: int = Field(sa_type=BigInteger)
    tokens: int = Field(sa_type=BigInteger)
    features: str
    previous_tail: int = Field(sa_type=BigInteger)
    previous_rows: int
    true_input: int | None = Field(sa_type=BigInteger)
    anchor: str | None
    report: str
    proof: str
    at: int = Field(sa_type=BigInteger)


class Summary(Base, table=True):
    """Segments of the summary; merged, undone and stale ones stay on record."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    level: int
    first: int = Field(sa_type=BigInteger)
    last: int = Field(sa_type=BigInteger)
    ranges: str
    coverage: str
    parts: str
    items: str
    template: str
    writer: str
    status: str
    into: str | None
    features: str
    replaced: int
    dropped: int
    at: int = Field(sa_type=BigInteger)
    __table_args__ = (Index("ix_summary_status", "tenant", "conv", "status", "first"),)


class Job(Base, table=True):
    """The outbox: work to be done off the reply path, written with what made it necessary."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    first: int = Field(primary_key=True, sa_type=BigInteger)
    last: int = Field(sa_type=BigInteger)
    attempts: int
    not_before: int = Field(sa_type=BigInteger)
    leased_until: int = Field(sa_type=BigInteger)
    error: str | None


class Task(Base, table=True):
    """Task documents."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    body: str
    features: str
    sha256: str
    at: int = Field(sa_type=BigInteger)


class Calibration(Base, table=True):
    """What was learned about a model's tokens in one conversation."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    model: str = Field(primary_key=True)
    body: str


class SearchState(Base, table=True):
    """How far a conversation is indexed; ``number`` stands for it in the row ids of the full-text table, ``scope`` is
    the token by which all chats of its scope are searched together, null where it must not be found so.
    """

    __tablename__ = "search_state"
    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    number: int = Field(sa_type=BigInteger)
    units: int = Field(sa_type=BigInteger)
    terms: int = Field(sa_type=BigInteger)
    episodes: int = Field(sa_type=BigInteger)
    upto: int = Field(sa_type=BigInteger)
    scope: str | None
    __table_args__ = (
        Index("ix_search_state_number", "number", unique=True),
        Index("ix_search_state_scope", "tenant", "scope", "number", "units", "terms", "episodes"),
    )


class SearchText(Base, table=True):
    """The terms of each turn; ``status`` is ready, stale or failed; ``asks`` is 1 for a question, plus 2 for calls."""

    __tablename__ = "search_text"
    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    n: int = Field(primary_key=True, sa_type=BigInteger)
    role: str
    terms: str
    length: int
    episode: int = Field(sa_type=BigInteger)
    asks: int
    said_at: int = Field(sa_type=BigInteger)
    status: str
    attempts: int
    error: str | None


class SearchEpisode(Base, table=True):
    """How many terms the turns of an episode have together; ``first`` is its first turn."""

    __tablename__ = "search_episode"
    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    first: int = Field(primary_key=True, sa_type=BigInteger)
    terms: int = Field(sa_type=BigInteger)


class SearchVector(Base, table=True):
    """One vector per turn, with the model that made it, or why none could be made."""

    __tablename__ = "search_vector"
    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    n: int = Field(primary_key=True, sa_type=BigInteger)
    model: str
    dim: int
    body: bytes = Field(sa_type=LargeBinary)
    attempts: int
    error: str | None


class SearchDescription(Base, table=True):
    """One line about the turns ``first`` to ``last`` and what it resolves, or the work to write it.  ``status`` is
    waiting, ready, plain or failed; ``coverage`` names every turn that was read; ``refs`` and ``body`` lend the index
    words.
    """

    __tablename__ = "search_description"
    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    first: int = Field(primary_key=True, sa_type=BigInteger)
    last: int = Field(sa_type=BigInteger)
    status: str
    attempts: int
    not_before: int = Field(sa_type=BigInteger)
    leased_until: int = Field(sa_type=BigInteger)
    error: str | None
    body: str
    refs: str
    coverage: str
    template: str
    writer: str
    at: int = Field(sa_type=BigInteger)


def _partial(name: str, model: type, columns: tuple[str, ...], where: str, *, unique: bool = False) -> None:
    table = vars(model)["__table__"]
    chosen = [table.c[c] for c in columns]
    Index(name, *chosen, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


_partial("ix_turn_key", Turn, ("tenant", "conv", "idem_key"), "idem_key IS NOT NULL", unique=True)
_partial("ix_turn_user", Turn, ("tenant", "conv", "n"), "role = 'user'")
_partial("ix_result_late", Result, ("tenant", "conv", "n", "ord"), "late = 1")
_partial("ix_search_unsettled", SearchText, ("tenant", "conv", "n"), "status <> 'ready'")


class Reach(StrEnum):
    """How a turn reaches a table, and so how erasing it reaches the copies there."""

    TURN = "by its number"  # rows keyed by the turn: blanked, the number stays
    COPY = "by the blocks copied from it"  # prefaces, view rows, reports, errors: blanked, the epoch ends
    INDEX = "by its number, in the index"  # rows are deleted, and their words taken out of the full-text table
    SOURCE = "by having said it"  # pins: blanked and revoked; facts: blanked, and every copy of theirs
    CALLER = "set by the caller, not derived from a turn"  # goes with the conversation
    NUMBERS = "numbers only, no text"  # goes with the conversation
    SHARED = "the caller's own settings, kept per tenant"  # heads: no turn text; go with the last epoch that used them
    NONE = "nothing of a conversation"


REACH: dict[str, Reach] = {
    "migration": Reach.NONE,
    "conversation": Reach.CALLER,
    "turn": Reach.TURN,
    "result": Reach.TURN,
    "pin": Reach.SOURCE,
    "head": Reach.SHARED,
    "epoch": Reach.COPY,
    "view": Reach.COPY,
    "request": Reach.COPY,
    "summary": Reach.COPY,
    "job": Reach.COPY,
    "task": Reach.CALLER,
    "calibration": Reach.NUMBERS,
    "search_state": Reach.NUMBERS,
    "search_episode": Reach.NUMBERS,
    "search_text": Reach.INDEX,
    "search_vector": Reach.INDEX,
    "search_description": Reach.COPY,
    "fact": Reach.SOURCE,
    "note": Reach.COPY,
    "recalled": Reach.NUMBERS,
    "audit": Reach.COPY,
}

METADATA = _registry.metadata
