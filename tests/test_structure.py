"""Which module may import which: only downward, and only what is listed inside a row.

Every module, or package, of contextmgr has its row in `ROWS`; docs/design.md shows the same table to readers.
A new module fails `test_every_module_has_a_row` until it is entered in both.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "contextmgr"

ROWS: dict[int, tuple[str, ...]] = {
    0: ("errors", "jsontext", "micros", "scope"),
    1: ("facts", "features", "heads", "params", "pins", "summaries", "tasks", "terms", "toolnames", "turns"),
    2: (
        *("calibration", "characters", "episodes", "labels", "media", "models", "profiles", "ranking"),
        *("suggestions", "tokens", "trigger", "views"),
    ),
    3: (
        *("allocator", "attachments", "checks", "compaction", "epochs", "evidence", "extractive", "forms", "preface"),
        *("preparing", "remembering", "rollover", "sources", "state"),
    ),
    4: ("layout", "meter", "proof", "report", "validity"),
    5: ("counters", "embedders", "store", "telemetry", "templates", "writers"),
    6: (
        *(
            "asking",
            "assembly",
            "background",
            "describing",
            "enriching",
            "extraction",
            "handing_over",
            "incoming",
            "indexing",
        ),
        *("keeping", "pinning", "reading", "recall", "recording", "replies", "retrieval", "summarising"),
        *("syncing", "undoing"),
    ),
    7: ("aio", "conversation", "knowledge", "lookups", "manager", "workers"),
    8: (
        *("baselines", "cli", "evaluation", "importing", "mcp", "policies", "replay", "scenario", "testing"),
        "transcripts",
    ),
    9: ("__init__", "__main__"),
}
SAME_ROW = {
    # importer, imported: both in one row; no pair may make a circle
    ("checks", "sources"),
    ("scope", "errors"),
    ("pins", "turns"),
    ("summaries", "features"),
    ("summaries", "turns"),
    ("tasks", "features"),
    ("turns", "features"),
    ("toolnames", "turns"),
    ("tokens", "calibration"),
    ("tokens", "characters"),
    ("tokens", "media"),
    ("trigger", "ranking"),
    ("allocator", "forms"),
    ("attachments", "forms"),
    ("attachments", "evidence"),
    ("epochs", "attachments"),
    ("epochs", "evidence"),
    ("epochs", "preface"),
    ("extractive", "sources"),
    ("preface", "compaction"),
    ("preface", "forms"),
    ("preparing", "compaction"),
    ("preparing", "epochs"),
    ("rollover", "allocator"),
    ("rollover", "attachments"),
    ("rollover", "compaction"),
    ("rollover", "epochs"),
    ("rollover", "evidence"),
    ("rollover", "forms"),
    ("rollover", "preface"),
    ("epochs", "state"),
    ("rollover", "state"),
    ("layout", "proof"),
    ("keeping", "pinning"),
    ("keeping", "recording"),
    ("undoing", "pinning"),
    ("assembly", "enriching"),
    ("enriching", "retrieval"),
    ("assembly", "reading"),
    ("assembly", "recording"),
    ("assembly", "retrieval"),
    ("extraction", "keeping"),
    ("extraction", "reading"),
    ("extraction", "recording"),
    ("handing_over", "reading"),
    ("handing_over", "recording"),
    ("describing", "reading"),
    ("indexing", "reading"),
    ("pinning", "recording"),
    ("recall", "keeping"),
    ("recall", "reading"),
    ("recall", "recording"),
    ("recall", "retrieval"),
    ("reading", "recording"),
    ("replies", "recording"),
    ("retrieval", "asking"),
    ("retrieval", "indexing"),
    ("retrieval", "reading"),
    ("retrieval", "recording"),
    ("summarising", "reading"),
    ("summarising", "recording"),
    ("aio", "conversation"),
    ("aio", "knowledge"),
    ("aio", "lookups"),
    ("aio", "manager"),
    ("conversation", "knowledge"),
    ("conversation", "lookups"),
    ("manager", "conversation"),
    ("manager", "workers"),
    ("manager", "lookups"),
    ("cli", "importing"),
    ("cli", "mcp"),
    ("cli", "evaluation"),
    ("cli", "replay"),
    ("cli", "scenario"),
    ("cli", "transcripts"),
    ("importing", "replay"),
    ("importing", "transcripts"),
    ("replay", "policies"),
    ("replay", "transcripts"),
    ("scenario", "baselines"),
}
# Rows 0-4 compute and do no I/O; these of them may read the tables and vocabularies that ship with the package.
LOADING = {"models", "profiles", "tokens"}
ACTING = {
    *("asyncio", "http", "httpx2", "logging", "multiprocessing", "random", "secrets", "socket", "sqlite3"),
    *("subprocess", "threading", "time", "urllib", "uuid", "anthropic", "jinja2", "sqlalchemy", "sqlmodel", "typer"),
}
READING = {"importlib", "io", "os", "pathlib", "shutil", "tempfile", "tomllib", "tiktoken"}
# Importing contextmgr must stay cheap: these are first imported by what needs them.
LATE = ("anthropic", "jinja2", "numpy", "rich", "sqlalchemy", "sqlmodel", "tiktoken", "typer")

ROW_OF = {module: row for row, modules in ROWS.items() for module in modules}
FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(file: Path) -> str:
    """``store.base`` for contextmgr/store/base.py, ``store`` for its __init__, ``__init__`` for the package's own."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts if len(parts) == 1 else (p for p in parts if p != "__init__"))


MODULES = {module_of(file): file for file in FILES}


def top(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def imported_names(file: Path) -> Iterator[str]:
    """Absolute dotted names of everything a file imports anywhere; relative imports are refused by ruff."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_module(parts: list[str]) -> bool:
    return ".".join(parts) in MODULES or PACKAGE.joinpath(*parts).is_dir() or (parts[0] in ROW_OF and len(parts) == 1)


def own_imports(file: Path) -> set[str]:
    """Modules of contextmgr that a file imports; ``__init__`` where it takes a name from the package itself."""
    found = set()
    for name in imported_names(file):
        parts = name.split(".")
        if parts[0] == PACKAGE.name:
            inner = parts[1:]
            while inner and not is_module(inner):
                inner.pop()
            found.add(".".join(inner) or "__init__")
    return found


def effects(file: Path) -> set[str]:
    """Calls in a file that read a clock or touch the world without an import that would tell."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return calls & {"open", "print", "input", "datetime.now", "datetime.today", "date.today", "datetime.datetime.now"}


def is_allowed(importer: str, imported: str) -> bool:
    importer, imported = top(importer), top(imported)
    if importer == imported or (importer, imported) in SAME_ROW:
        return True
    return ROW_OF.get(imported, 99) < ROW_OF.get(importer, -1)


def test_every_module_has_a_row() -> None:
    assert {top(module) for module in MODULES} - ROW_OF.keys() == set(), "enter it in ROWS and in docs/design.md"


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_downward(module: str) -> None:
    assert sorted(name for name in own_imports(MODULES[module]) if not is_allowed(module, name)) == []


def test_listed_pairs_share_a_row() -> None:
    assert [pair for pair in SAME_ROW if ROW_OF[pair[0]] != ROW_OF[pair[1]]] == []


def test_listed_pairs_are_needed() -> None:
    used = {(top(module), top(name)) for module, file in MODULES.items() for name in own_imports(file)}
    there = {top(module) for module in MODULES}
    assert sorted(pair for pair in SAME_ROW if pair not in used and there.issuperset(pair)) == []


def test_no_import_circle() -> None:
    graph = {module: own_imports(file) - {module} for module, file in MODULES.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"import circle: {' -> '.join(error.args[1])}")
    assert set(order) >= set(MODULES)


@pytest.mark.parametrize("module", [m for m in MODULES if ROW_OF.get(top(m), 99) <= 4])
def test_the_core_does_no_io(module: str) -> None:
    banned = ACTING if top(module) in LOADING else ACTING | READING
    outside = {top(name) for name in imported_names(MODULES[module])}
    assert (outside & banned) - typing_only(MODULES[module]) == set()
    assert effects(MODULES[module]) == set()


def typing_only(file: Path) -> set[str]:
    """Packages that a file imports for type checkers only."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    return {top(n.module or "") for b in blocks for n in ast.walk(b) if isinstance(n, ast.ImportFrom)}


def test_importing_contextmgr_loads_nothing_heavy() -> None:
    code = f"import sys, contextmgr; print(*sorted(sys.modules.keys() & set({LATE!r})))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert run.stdout.split() == []


def test_the_design_shows_the_same_rows() -> None:
    text = (PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (\d) \| ([^|]*)\|", text, flags=re.MULTILINE)
    shown = {int(row): tuple(sorted(re.findall(r"`(\w+)/?`", cell))) for row, cell in lines}
    assert shown == {row: tuple(sorted(modules)) for row, modules in ROWS.items()}
