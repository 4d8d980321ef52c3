"""The async face has the same public names and signatures as the sync one, for every class that comes in both."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from types import ModuleType

import pytest

if importlib.util.find_spec("contextmgr.aio") is None:
    pytest.skip("contextmgr.aio is not written yet", allow_module_level=True)

aio = importlib.import_module("contextmgr.aio")

# Public methods that only compute, or only hand out an object: called, not awaited, on both faces.
NOT_AWAITED: set[str] = {"project_pins", "recall_runner_tools", "recall_tools", "state"}
CONTEXT = {"__enter__": "__aenter__", "__exit__": "__aexit__", "__iter__": "__aiter__"}


def sync_classes() -> dict[str, type]:
    names = ("manager", "conversation", "knowledge", "lookups")
    modules: list[ModuleType] = [importlib.import_module(f"contextmgr.{m}") for m in names]
    return {name: value for module in modules for name, value in vars(module).items() if inspect.isclass(value)}


PAIRS = [
    pytest.param(sync_classes()[name.removeprefix("Async")], twin, id=name)
    for name, twin in sorted(vars(aio).items())
    if inspect.isclass(twin) and name.startswith("Async") and twin.__module__.startswith("contextmgr.")
]


def names(cls: type) -> set[str]:
    """Public names, with those of ``with`` and ``for`` translated to their async forms."""
    special = {CONTEXT.get(name, name) for name in dir(cls) if name in CONTEXT or name in CONTEXT.values()}
    return {name for name in dir(cls) if not name.startswith("_")} | special


def methods(cls: type) -> dict[str, inspect.Signature]:
    """Public methods with what a caller may pass them; what comes back is awaited on one side, so it is left out."""
    found = {name: inspect.getattr_static(cls, name) for name in dir(cls) if not name.startswith("_")}
    calls = {name: getattr(cls, name) for name, value in found.items() if not isinstance(value, property)}
    return {name: without_return(call) for name, call in calls.items() if callable(call)}


def without_return(call: object) -> inspect.Signature:
    assert callable(call)
    return inspect.signature(call).replace(return_annotation=inspect.Signature.empty)


def test_both_facades_come_in_pairs() -> None:
    assert {"AsyncManager", "AsyncConversation"} <= {p.id for p in PAIRS}


@pytest.mark.parametrize(("sync", "twin"), PAIRS)
def test_same_names(sync: type, twin: type) -> None:
    assert names(sync) ^ names(twin) == set()


@pytest.mark.parametrize(("sync", "twin"), PAIRS)
def test_same_signatures(sync: type, twin: type) -> None:
    assert methods(twin) == methods(sync)


@pytest.mark.parametrize(("sync", "twin"), PAIRS)
def test_every_method_is_awaited(sync: type, twin: type) -> None:
    called = {name for name in methods(twin) if not inspect.iscoroutinefunction(getattr(twin, name))}
    assert called - NOT_AWAITED == set()


@pytest.mark.parametrize(("sync", "twin"), PAIRS)
def test_every_method_is_documented(sync: type, twin: type) -> None:
    assert [name for name in methods(twin) if not inspect.getdoc(getattr(twin, name))] == []
