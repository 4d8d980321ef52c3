"""Statements find their rows by an index, and the indexes made for the request path are the ones that serve it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contextmgr.store.sqlite import SqliteStore

PLANNED = {
    "late_results": "ix_result_late",
    "newest_user": "ix_turn_user",
    "has_user": "ix_turn_user",
    "turn_by_key": "ix_turn_key",
    "conversations": "ix_conversation_scope",
    "turns_before": "sqlite_autoindex_turn_1",
}


@pytest.fixture(scope="module")
def plans() -> Iterator[dict[str, str]]:
    store = SqliteStore(None)
    connection = store._connect()
    yield {
        name: "; ".join(
            row["detail"]
            for row in connection.execute(f"EXPLAIN QUERY PLAN {s.text}", [1] * len(s.bind(dict.fromkeys(s._names))))
        )
        for name, s in store._statements.items()
    }
    store.close()


def test_no_statement_reads_a_whole_table(plans: dict[str, str]) -> None:
    tables = {name: plan.replace("SCAN (subquery", "") for name, plan in plans.items()}  # a few rows of an index
    scans = {name: plan for name, plan in tables.items() if "SCAN" in plan and "VIRTUAL TABLE" not in plan}
    assert scans == {}


@pytest.mark.parametrize("name", PLANNED)
def test_the_index_made_for_it_serves(plans: dict[str, str], name: str) -> None:
    assert PLANNED[name] in plans[name]
