"""The names of contextmgr: one sorted ``__all__``, the same for people, for type checkers and at run time."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import contextmgr

SOURCE = Path(__file__).resolve().parents[1] / "contextmgr" / "__init__.py"

if not hasattr(contextmgr, "__all__"):
    pytest.skip("contextmgr exports nothing yet", allow_module_level=True)

NAMES: list[str] = list(contextmgr.__all__)


def names_for_type_checkers() -> set[str]:
    """What ``__init__`` imports for type checkers or at run time, or defines: the statically visible names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("contextmgr"):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def test_sorted_and_unique() -> None:
    assert sorted(set(NAMES)) == NAMES


def test_all_is_what_is_public() -> None:
    visible = {name for name in dir(contextmgr) if not name.startswith("_") or name == "__version__"}
    public = {name for name in visible if not isinstance(getattr(contextmgr, name), ModuleType)}
    assert public - {"annotations", "TYPE_CHECKING"} == set(NAMES)


def test_type_checkers_see_the_same_names() -> None:
    assert names_for_type_checkers() == set(NAMES) - {"__version__"}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_resolves_to_something_documented(name: str) -> None:
    value = getattr(contextmgr, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value)
        assert value.__module__.startswith("contextmgr.")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = contextmgr.no_such_name


def test_every_error_is_exported() -> None:
    from contextmgr import errors

    classes = {n for n, v in vars(errors).items() if inspect.isclass(v) and issubclass(v, errors.ContextManagerError)}
    assert classes - set(NAMES) == set()
