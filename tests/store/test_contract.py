"""The store contract, run on both kinds of SQLite store."""

from __future__ import annotations

from pathlib import Path

from contextmgr.store import Store, open_store
from contextmgr.store.sqlite import SqliteStore
from contextmgr.testing import StoreContract


class TestFile(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "store.db")


class TestPowerSafeFile(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return open_store(f"sqlite:///{folder}/store.db", durability="power")


class TestMemory(StoreContract):
    durable = False

    def open_store(self, folder: Path) -> Store:
        return open_store("sqlite://")
