"""Descriptions of episodes as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, cast

from sqlalchemy import ColumnElement, Table, and_, bindparam, delete, insert, select, text, update
from sqlalchemy.sql import ClauseElement

from contextmgr import jsontext
from contextmgr.micros import from_micros, to_micros
from contextmgr.ranking import Unit
from contextmgr.store import tables
from contextmgr.store.description_base import Description, DescriptionStatus, Reference
from contextmgr.store.rows import pairs
from contextmgr.store.search_base import SearchTables

DESCRIPTION = cast(Table, vars(tables.SearchDescription)["__table__"])


class Run(Protocol):
    """Runs a named statement within a scope."""

    def __call__(self, name: str, conversation: str | None = None, values: Mapping[str, Any] | None = None) -> Any: ...


def _here() -> ColumnElement[bool]:
    return and_(DESCRIPTION.c.tenant == bindparam("tenant"), DESCRIPTION.c.conv == bindparam("conv"))


_FIRST = DESCRIPTION.c.first == bindparam("first")
_IN_RANGE = and_(DESCRIPTION.c.first <= bindparam("last"), DESCRIPTION.c.last >= bindparam("first"))
DESCRIPTIONS: Mapping[str, ClauseElement] = {
    "insert_description": insert(DESCRIPTION),
    "delete_description": delete(DESCRIPTION).where(_here(), _FIRST),
    "descriptions": select(DESCRIPTION).where(_here()).order_by(DESCRIPTION.c.first),
    "descriptions_in": select(DESCRIPTION).where(_here(), _IN_RANGE).order_by(DESCRIPTION.c.first),
    "described_upto": text("SELECT max(last) AS upto FROM search_description WHERE tenant = :tenant AND conv = :conv"),
    "due_description": select(DESCRIPTION)
    .where(
        _here(),
        DESCRIPTION.c.status == "waiting",
        DESCRIPTION.c.not_before <= bindparam("now"),
        DESCRIPTION.c.leased_until <= bindparam("now"),
    )
    .order_by(DESCRIPTION.c.first)
    .limit(1),
    "lease_description": update(DESCRIPTION)
    .where(_here(), _FIRST, DESCRIPTION.c.status == "waiting", DESCRIPTION.c.leased_until <= bindparam("now"))
    .values(leased_until=bindparam("new_leased_until"), attempts=DESCRIPTION.c.attempts + 1),
    "waiting_descriptions": text(
        "SELECT count(*) AS n FROM search_description "
        "WHERE tenant = :tenant AND conv = :conv AND status IN ('waiting', 'failed')"
    ),
}


class DescriptionRows:
    """`DescriptionTables` over compiled statements."""

    __slots__ = ("_run", "_search")

    def __init__(self, run: Run, search: SearchTables) -> None:
        self._run = run
        self._search = search

    def all(self, conversation: str) -> list[Description]:
        """Every description, those that wait or failed included, in order."""
        return [_read(r) for r in self._run("descriptions", conversation).fetchall()]

    def upto(self, conversation: str) -> int:
        """The last turn that belongs to a description, 0 for none."""
        return int(self._run("described_upto", conversation).fetchone()["upto"] or 0)

    def left(self, conversation: str) -> int:
        """How many wait or failed for good."""
        return int(self._run("waiting_descriptions", conversation).fetchone()["n"])

    def words(self, conversation: str, first: int, last: int) -> dict[int, str]:
        """What turns between ``first`` and ``last`` are indexed with besides their own words."""
        found = self._run("descriptions_in", conversation, {"first": first, "last": last}).fetchall()
        return {turn: line for row in found for turn, line in _read(row).words.items()}

    def lease(self, conversation: str, now: int, until: int) -> Description | None:
        """Take the first that is due, counting the attempt; None where there is none."""
        row = self._run("due_description", conversation, {"now": now}).fetchone()
        if row is None:
            return None
        values = {"first": row["first"], "now": now, "new_leased_until": until}
        self._run("lease_description", conversation, values)
        return _read({**row, "attempts": row["attempts"] + 1, "leased_until": until})

    def get(self, conversation: str, first: int) -> Description | None:
        """The description that begins at a turn."""
        found = self._run("descriptions_in", conversation, {"first": first, "last": first}).fetchall()
        return next((_read(r) for r in found if r["first"] == first), None)

    def put(self, conversation: str, description: Description) -> None:
        """Keep a description in place of what begins at the same turn; turns it lends words to are indexed again."""
        old = self.get(conversation, description.first)
        self._run("delete_description", conversation, {"first": description.first})
        self._run("insert_description", conversation, _row(description))
        for turn in sorted({*description.words, *(old.words if old else ())}):
            self._search.outdate(conversation, turn)

    def forget(self, conversation: str, number: int) -> None:
        """A turn was erased: what read it goes, and the words that it lent leave the index."""
        for description in self.all(conversation):
            if number not in dict(description.coverage) and not description.first <= number <= description.last:
                continue
            self._run("delete_description", conversation, {"first": description.first})
            gone = Description(
                first=description.first,
                last=description.last,
                status=DescriptionStatus.PLAIN,
                attempts=description.attempts,
                error="a turn that it read was erased",
            )
            self._run("insert_description", conversation, _row(gone))
            self._unlend(conversation, description.words)

    def _unlend(self, conversation: str, words: Mapping[int, str]) -> None:
        """Take lent words out of the index: they stand behind a turn's own, where it was indexed with them."""
        for unit in self._search.units(conversation, list(words)):
            more = Unit.of(unit.number, unit.role, words[unit.number])
            if more.length and unit.indexed.endswith(more.indexed):
                own = unit.indexed.removesuffix(more.indexed)
                bare = replace(unit, indexed=own, length=unit.length - more.length)
                self._search.put(conversation, [bare], [], 0)


def _row(description: Description) -> dict[str, Any]:
    return {
        "first": description.first,
        "last": description.last,
        "status": description.status.value,
        "attempts": description.attempts,
        "not_before": description.not_before,
        "leased_until": description.leased_until,
        "error": description.error,
        "body": description.text,
        "refs": jsontext.dumps(description.references),
        "coverage": jsontext.dumps(description.coverage),
        "template": description.template,
        "writer": description.writer,
        "at": to_micros(description.at) if description.at else 0,
    }


def _read(row: Mapping[str, Any]) -> Description:
    return Description(
        first=row["first"],
        last=row["last"],
        text=row["body"],
        references=tuple(Reference(t, p, m, tuple(turns)) for t, p, m, turns in jsontext.loads(row["refs"])),
        coverage=pairs(row["coverage"]),
        status=DescriptionStatus(row["status"]),
        attempts=row["attempts"],
        not_before=row["not_before"],
        leased_until=row["leased_until"],
        error=row["error"],
        template=row["template"],
        writer=row["writer"],
        at=from_micros(row["at"]) if row["at"] else None,
    )
