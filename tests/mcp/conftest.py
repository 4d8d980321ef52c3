"""One store for all of these tests: they read, and what they write is theirs alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp.talk import make_store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_store(tmp_path_factory.mktemp("mcp") / "chats.db")
