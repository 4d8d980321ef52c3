"""A manager on a new file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextmgr import Manager
from tests.recall.talk import START


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with Manager(tmp_path / "a.db", profile="support-chat", background=False, clock=lambda: START) as manager:
        yield manager
