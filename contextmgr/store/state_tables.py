"""The tables of the state, of what was recalled, and of who asked for what."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index
from sqlmodel import Field

from contextmgr.store.tables import Base


class Fact(Base, table=True):
    """Facts; ``owner`` is the key of the conversation, project or user it holds for, ``conv`` where it was said."""

    tenant: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    conv: str
    owner: str
    conversation: str
    scope: str
    key: str
    value: str
    kind: str
    author: str
    n: int | None = Field(sa_type=BigInteger)
    quote: str | None
    via: int | None = Field(sa_type=BigInteger)
    change: int = Field(sa_type=BigInteger)
    valid_from: int = Field(sa_type=BigInteger)
    superseded_by: str | None
    erased: int
    __table_args__ = (
        Index("ix_fact_owner", "tenant", "owner", "key"),
        Index("ix_fact_conv", "tenant", "conv", "change"),
    )


class Note(Base, table=True):
    """The sections of the scratchpad; ``turns`` are those whose calls wrote it."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    section: str = Field(primary_key=True)
    text: str
    turns: str
    change: int = Field(sa_type=BigInteger)
    at: int = Field(sa_type=BigInteger)


class Recalled(Base, table=True):
    """Which facts of other conversations a conversation began with."""

    tenant: str = Field(primary_key=True)
    conv: str = Field(primary_key=True)
    fact: str = Field(primary_key=True)
    __table_args__ = (Index("ix_recalled_fact", "tenant", "fact"),)


class Audit(Base, table=True):
    """Every search and recall: who asked, what for, and which turns came back; ``n`` is the turn it was asked in."""

    tenant: str = Field(primary_key=True)
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    conv: str | None
    conversation: str | None
    user: str | None
    project: str | None
    n: int | None = Field(sa_type=BigInteger)
    action: str
    query: str | None
    found: str
    error: str | None
    at: int = Field(sa_type=BigInteger)
    __table_args__ = (
        Index("ix_audit_scope", "tenant", "user", "project", "seq"),
        Index("ix_audit_conv", "tenant", "conv", "seq"),
    )
