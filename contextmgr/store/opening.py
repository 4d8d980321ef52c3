"""From a URL to a store."""

from __future__ import annotations

from pathlib import Path

from contextmgr.errors import StoreError
from contextmgr.store.base import Store
from contextmgr.store.sqlite import Durability, SqliteStore


def open_store(url: str | Path | Store, *, durability: Durability = "process", wait: float = 30.0) -> Store:
    """Open the store that ``url`` names: a path, ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://``
    (in memory), or a `Store` as it is.  ``wait`` is the longest wait for a lock, in seconds.

    Raises `StoreError` for a URL of another kind or a file that cannot be opened.
    """
    if isinstance(url, Path):
        return SqliteStore(url, durability=durability, wait=wait)
    if not isinstance(url, str):
        return url
    if url in ("sqlite://", "sqlite:///:memory:", ":memory:"):
        return SqliteStore(None, durability=durability, wait=wait)
    if url.startswith("sqlite:///"):
        return SqliteStore(url.removeprefix("sqlite:///"), durability=durability, wait=wait)
    if "://" in url:
        raise StoreError(f"{url!r} is not a store this release opens; use 'sqlite:///file.db' or a path")
    if not url.strip():
        raise StoreError("the store's path is blank; use 'sqlite:///file.db' or a path")
    return SqliteStore(url, durability=durability, wait=wait)
