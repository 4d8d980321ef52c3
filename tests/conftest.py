"""What every test may use: where the recorded sessions are, hypothesis profiles, and no way to the real model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.rv import Watch, watching

REPOSITORY = Path(__file__).resolve().parents[1]

# `make test` takes the same examples on every run; the long profile looks for new ones.
hypothesis.settings.register_profile("short", max_examples=100, deadline=None, derandomize=True)
hypothesis.settings.register_profile("long", max_examples=20_000, deadline=None)
hypothesis.settings.load_profile("short")


def data_directory() -> Path:
    """Where recorded sessions and conversations are kept, whether or not it is there."""
    return Path(os.environ.get("CONTEXTMGR_DATA") or REPOSITORY / ".." / "shared" / "data").resolve()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Recorded sessions and conversations that are not part of the repository; the test is skipped without them."""
    found = data_directory()
    if not found.is_dir():
        pytest.skip("no recorded data: set CONTEXTMGR_DATA to its directory, or lay it at ../shared/data")
    return found


@pytest.fixture(autouse=True)
def _no_real_model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only tests marked live reach the model: for all others the key is not real and the address leads nowhere."""
    if request.node.get_closest_marker("live") is None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)


def pytest_configure(config: pytest.Config) -> None:
    """Marks of these tests that are not the package's."""
    config.addinivalue_line("markers", "unwatched(reason): requests are not checked by tests/rv.py")


@pytest.fixture(autouse=True)
def watch(request: pytest.FixtureRequest) -> Iterator[Watch | None]:
    """Check RV1-RV8 on every request that is assembled, in whatever test; see tests/rv.py."""
    if request.node.get_closest_marker("unwatched") is not None:
        yield None
        return
    with watching() as found:
        yield found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the live tests where there is no key."""
    if os.environ.get("ANTHROPIC_API_KEY"):
        return
    skip = pytest.mark.skip(reason="needs ANTHROPIC_API_KEY")
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(skip)
