"""The house rules that no linter knows: sizes, docstrings, signatures, and which exceptions may be caught."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = sorted((ROOT / "contextmgr").rglob("*.py"))
FILES = PACKAGE + sorted(f for folder in ("benchmarks", "examples", "tests") for f in (ROOT / folder).rglob("*.py"))

FILE_LINES = 400
FILE_MEDIAN = 150
BODY_LINES = 60
BODY_P95 = 35
# "module.py:function" that may catch everything, and why it must.
CATCHES_ALL: dict[str, str] = {
    "contextmgr/writers/calling.py:_work": "anything may come out of a caller's function; the waiting thread gets it",
    "contextmgr/summarising.py:_do": "in the background: whatever goes wrong with one piece, the job says so",
    "contextmgr/embedders.py:vectors_of": "anything may come out of a caller's embedder; it becomes a typed error",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def length(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def functions(file: Path) -> Iterator[Function]:
    return (node for node in ast.walk(parse(file)) if isinstance(node, Function))


def body_length(node: Function) -> int:
    """Lines of a function's body without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def public(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Public functions, classes, and their public methods, under their dotted names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield f"{prefix}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public(node, f"{prefix}{node.name}.")


def undocumented(file: Path) -> set[str]:
    """Public names without a docstring; methods that a Protocol of ours documents are described there."""
    bare = {name for name, node in public(parse(file)) if not ast.get_docstring(node) and not is_overload(node)}
    return {name for name in bare if "." not in name or name.rpartition(".")[2] not in PROMISED}


def is_overload(node: Function | ast.ClassDef) -> bool:
    return any(ast.unparse(decorator).endswith(("overload", "setter")) for decorator in node.decorator_list)


PROMISED = {
    method.name
    for file in PACKAGE
    for _, node in public(parse(file))
    if isinstance(node, ast.ClassDef) and {"Protocol", "ABC"} & {ast.unparse(base) for base in node.bases}
    for _, method in public(node)
    if ast.get_docstring(method)
}


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches everything and does not at once raise it again."""
    caught = "BaseException" if handler.type is None else ast.unparse(handler.type)
    last = handler.body[-1]
    raised_again = isinstance(last, ast.Raise) and last.exc is None
    return any(name in caught.strip("()").split(", ") for name in ("Exception", "BaseException")) and not raised_again


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_file_is_too_long(file: Path) -> None:
    assert length(file) <= FILE_LINES


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_function_is_too_long(file: Path) -> None:
    assert {f.name: body_length(f) for f in functions(file) if body_length(f) > BODY_LINES} == {}


def test_most_files_and_functions_are_short() -> None:
    bodies = sorted(body_length(f) for file in PACKAGE for f in functions(file))
    assert statistics.median(map(length, PACKAGE)) <= FILE_MEDIAN
    assert bodies[int(len(bodies) * 0.95)] <= BODY_P95


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_module_says_what_it_is_for(file: Path) -> None:
    assert ast.get_docstring(parse(file))


@pytest.mark.parametrize("file", PACKAGE, ids=name_of)
def test_every_public_name_has_a_docstring(file: Path) -> None:
    assert undocumented(file) == set()


@pytest.mark.parametrize("file", PACKAGE, ids=name_of)
def test_no_public_signature_takes_any_keyword(file: Path) -> None:
    signatures = [(name, node.args) for name, node in public(parse(file)) if isinstance(node, Function)]
    assert [name for name, arguments in signatures if arguments.kwarg] == []


@pytest.mark.parametrize("file", PACKAGE, ids=name_of)
def test_nothing_catches_everything(file: Path) -> None:
    broad = {
        f"{name_of(file)}:{function.name}"
        for function in functions(file)
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler) and is_broad(node)
    }
    assert broad - CATCHES_ALL.keys() == set()


def test_every_test_can_fail() -> None:
    """A test that holds no assertion, and calls nothing that raises one, proves nothing."""
    tests = ((file, f) for file in FILES if file.name.startswith("test_") for f in functions(file))
    assert [f"{name_of(file)}:{f.name}" for file, f in tests if f.name.startswith("test_") and not asserts(f)] == []


def asserts(function: Function) -> bool:
    calls = (ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call))
    words = ("raises", "warns", "assert", "check", "verify", "expect", "fail")
    return any(isinstance(node, ast.Assert) for node in ast.walk(function)) or any(
        word in call for call in calls for word in words
    )
