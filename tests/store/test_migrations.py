"""Migrations: each applied once, in order; a store of a newer release is left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contextmgr.errors import StoreVersionError
from contextmgr.store import migrations, tables
from contextmgr.store.sqlite import SqliteStore


def rows(file: Path, query: str) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [row[0] for row in connection.execute(query)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    SqliteStore(tmp_path / "a.db").close()
    return tmp_path / "a.db"


def test_a_new_store_has_every_table(file: Path) -> None:
    found = rows(file, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_fts%'")
    assert set(found) == set(tables.METADATA.tables)


def test_all_keys_lead_with_tenant() -> None:
    keyed = {t.name: [c.name for c in t.primary_key] for t in tables.METADATA.sorted_tables if t.name != "migration"}
    assert {name for name, key in keyed.items() if key[0] != "tenant"} == set()


def test_migrations_are_recorded_once(file: Path) -> None:
    SqliteStore(file).close()
    assert rows(file, "SELECT name FROM migration") == [m.__name__ for m in migrations.MIGRATIONS]


def test_their_names_are_in_order() -> None:
    names = [m.__name__ for m in migrations.MIGRATIONS]
    assert names == sorted(set(names))


def test_only_missing_ones_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def m9999_example(execute: migrations.Execute, dialect: object) -> None:
        execute("CREATE TABLE example (x INTEGER)")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m9999_example))
    for _ in range(2):
        SqliteStore(file).close()
    assert rows(file, "SELECT name FROM sqlite_master WHERE name = 'example'") == ["example"]


def test_one_that_fails_leaves_the_store_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def m9999_example(execute: migrations.Execute, dialect: object) -> None:
        execute("CREATE TABLE example (x INTEGER)")
        raise KeyError("half way")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m9999_example))
    with pytest.raises(KeyError):
        SqliteStore(file)
    monkeypatch.undo()
    SqliteStore(file).close()
    assert rows(file, "SELECT name FROM sqlite_master WHERE name = 'example'") == []


def test_a_newer_store_is_refused_and_untouched(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO migration VALUES ('m9999_newer', 0)")
        connection.commit()
    with pytest.raises(StoreVersionError, match=r"m9999_newer.*upgrade"):
        SqliteStore(file)
    assert "m9999_newer" in rows(file, "SELECT name FROM migration")
