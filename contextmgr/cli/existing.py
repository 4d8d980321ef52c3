"""Opening a store that must be there: a mistyped path is an error, not a new, empty store."""

from __future__ import annotations

from pathlib import Path

from contextmgr.errors import StoreError
from contextmgr.store import Store, open_store

_FILE = "sqlite:///"


def existing_store(store: str) -> Store:
    """Open a store by path or URL.  Raises `StoreError` where there is none."""
    is_file = store.startswith(_FILE) or "://" not in store
    if is_file and not Path(store.removeprefix(_FILE)).is_file():
        raise StoreError(f"there is no store at {store!r}; give the path or URL of an existing one")
    return open_store(store)
