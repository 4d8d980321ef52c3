"""Statements of facts, notes, recall and audit.  A fact is found by its owner: the key of what it holds for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from sqlalchemy import ColumnElement, Table, and_, bindparam, delete, insert, null, select, text, update
from sqlalchemy.sql import ClauseElement

from contextmgr.store import state_tables

FACT = cast(Table, vars(state_tables.Fact)["__table__"])
NOTE = cast(Table, vars(state_tables.Note)["__table__"])
RECALLED = cast(Table, vars(state_tables.Recalled)["__table__"])
AUDIT = cast(Table, vars(state_tables.Audit)["__table__"])


def _here(table: Table) -> ColumnElement[bool]:
    return and_(table.c.tenant == bindparam("tenant"), table.c.conv == bindparam("conv"))


_OWNED = and_(FACT.c.tenant == bindparam("tenant"), FACT.c.owner == bindparam("owner"))
_ONE = and_(FACT.c.tenant == bindparam("tenant"), FACT.c.id == bindparam("id"))
_CURRENT = and_(FACT.c.superseded_by.is_(null()), FACT.c.erased == 0)
_NEWEST = (FACT.c.valid_from.desc(), FACT.c.change.desc())
_SCOPE = and_(
    AUDIT.c.tenant == bindparam("tenant"),
    AUDIT.c.user.is_not_distinct_from(bindparam("user")),
    AUDIT.c.project.is_not_distinct_from(bindparam("project")),
)

STATE_STATEMENTS: Mapping[str, ClauseElement] = {
    "state_size": text(
        "SELECT coalesce(max(change), 0) AS change, "
        "EXISTS (SELECT 1 FROM recalled WHERE tenant = :tenant AND conv = :conv) AS recalled FROM ("
        "SELECT max(change) AS change FROM fact WHERE tenant = :tenant AND conv = :conv UNION ALL "
        "SELECT max(change) FROM note WHERE tenant = :tenant AND conv = :conv) AS changes"
    ),
    "insert_fact": insert(FACT),
    "supersede_fact": update(FACT).where(_ONE).values(superseded_by=bindparam("new_superseded_by")),
    "fact": select(FACT).where(_ONE),
    "current_fact": select(FACT).where(_OWNED, FACT.c.key == bindparam("key"), _CURRENT),
    "current_facts": select(FACT).where(_OWNED, _CURRENT).order_by(*_NEWEST).limit(bindparam("most")),
    "said_facts": select(FACT).where(_here(FACT), _CURRENT).order_by(FACT.c.change.desc()).limit(bindparam("most")),
    "fact_history": select(FACT)
    .where(_OWNED, FACT.c.key == bindparam("key"))
    .order_by(FACT.c.valid_from, FACT.c.change),
    "notes": select(NOTE).where(_here(NOTE)).order_by(NOTE.c.section),
    "insert_note": insert(NOTE),
    "delete_note": delete(NOTE).where(_here(NOTE), NOTE.c.section == bindparam("section")),
    "insert_recalled": insert(RECALLED),
    "recalled": select(RECALLED).where(_here(RECALLED)).order_by(RECALLED.c.fact),
    "insert_audit": text(
        "INSERT INTO audit (tenant, seq, conv, conversation, user, project, n, action, query, found, error, at) "
        "SELECT :tenant, coalesce(max(seq), 0) + 1, :conv, :conversation, :user, :project, :n, :action, :query, "
        ":found, :error, :at FROM audit WHERE tenant = :tenant"
    ),
    "audits": select(AUDIT).where(_SCOPE).order_by(AUDIT.c.seq.desc()).limit(bindparam("most")),
    "conversation_audits": select(AUDIT).where(_here(AUDIT)).order_by(AUDIT.c.seq.desc()).limit(bindparam("most")),
    # erasing
    "facts_of": select(FACT).where(_here(FACT)),
    "blank_fact": update(FACT).where(_ONE).values(value="null", quote=null(), erased=1),
    "recalling": select(RECALLED.c.conv).where(
        RECALLED.c.tenant == bindparam("tenant"), RECALLED.c.fact == bindparam("id")
    ),
    "blank_note": update(NOTE).where(_here(NOTE), NOTE.c.section == bindparam("section")).values(text="", turns="[]"),
    "blank_audits": update(AUDIT).where(_here(AUDIT), AUDIT.c.n == bindparam("n")).values(query=null()),
}
