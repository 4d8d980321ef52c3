"""Tool outputs made from a few numbers, the same every time, so that a scenario file stays readable."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_TABLES = ("users", "orders", "order_items", "products", "invoices", "refunds", "sessions", "audit_log", "coupons")
_COLUMNS = ("id", "email", "status", "created_at", "total_cents", "region", "sku", "quantity", "note", "expires_at")
_VERBS = ("find", "list", "count", "update", "delete", "archive", "search", "load")
_EVENTS = (
    "GET /api/{table} 200 in {n} ms",
    "query on {table} took {n} ms, {m} rows",
    "cache miss for {table}:{n}",
    "worker {m} finished batch {n} of {table}",
    "retrying {table} after timeout of {n} ms",
    "POST /api/{table} 201 in {n} ms",
)
_LEVELS = ("INFO", "INFO", "INFO", "DEBUG", "WARNING")


class Generate(BaseModel):
    """How to make an output: its ``kind``, its ``lines`` (of a listing or table: rows), and what it is about.

    ``subject`` is a module, folder, pattern or table by kind.  ``columns`` are those of a table: a name in capitals is
    a label, one ending in ``_at`` a date, any other a number.  ``seed`` varies the content.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["log", "listing", "source", "tests", "grep", "table"]
    lines: int = Field(ge=1, le=20_000)
    subject: str = "app"
    columns: list[str] = []
    seed: int = 0


def generate(wanted: Generate) -> str:
    """The output: the same text for the same numbers, on every machine."""
    random = Random(f"{wanted.kind}:{wanted.subject}:{wanted.seed}")
    return _KINDS[wanted.kind](wanted, random)


def _log(wanted: Generate, random: Random) -> str:
    at = datetime(2026, 3, 2, 8, 0)  # noqa: DTZ001 - text of a log, not a time anyone computes with
    lines = []
    for _ in range(wanted.lines):
        at += timedelta(milliseconds=random.randint(20, 4_000))
        event = random.choice(_EVENTS).format(
            table=random.choice(_TABLES), n=random.randint(2, 900), m=random.randint(1, 60)
        )
        lines.append(
            f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03} {random.choice(_LEVELS):7} {wanted.subject}: {event}"
        )
    return "\n".join(lines)


def _listing(wanted: Generate, random: Random) -> str:
    folders = ("api", "db", "db/migrations", "jobs", "models", "services", "tests", "tests/db")
    names = sorted(
        f"{wanted.subject}/{random.choice(folders)}/{random.choice(_VERBS)}_{random.choice(_TABLES)}_{i:02}.py"
        for i in range(wanted.lines)
    )
    return "\n".join(f"{random.randint(300, 19_000):>7}  {name}" for name in names)


def _source(wanted: Generate, random: Random) -> str:
    """A module whose functions put SQL together from strings: what the refactoring is about."""
    lines = [f'"""Access to {wanted.subject}."""', "", "from shop.db import connect", ""]
    while len(lines) < wanted.lines:
        verb, column = random.choice(_VERBS), random.choice(_COLUMNS)
        other, table = random.choice(_COLUMNS), wanted.subject
        lines += [
            "",
            f"def {verb}_{table}_by_{column}_{len(lines)}({column}, limit={random.randint(10, 500)}):",
            f'    """{verb.capitalize()} rows of {table} by {column}."""',
            "    cursor = connect().cursor()",
            f'    sql = "SELECT id, {other} FROM {table} WHERE {column} = \'" + str({column}) + "\'"',
            f'    cursor.execute(sql + f" ORDER BY {other} LIMIT {{limit}}")',
            "    return cursor.fetchall()",
            "",
        ]
    return "\n".join(lines[: wanted.lines])


def _tests(wanted: Generate, random: Random) -> str:
    lines = [f"============ test session starts: {wanted.subject} ============"]
    for i in range(wanted.lines):
        name = f"tests/db/test_{random.choice(_TABLES)}.py::test_{random.choice(_VERBS)}_{random.choice(_COLUMNS)}_{i}"
        lines.append(f"{name} PASSED [{100 * (i + 1) // wanted.lines:3}%]")
    return "\n".join(
        [
            *lines,
            f"============ {wanted.lines} passed in {random.randint(3, 40)}.{random.randint(10, 99)}s ============",
        ]
    )


def _grep(wanted: Generate, random: Random) -> str:
    hits = []
    for _ in range(wanted.lines):
        table, column = random.choice(_TABLES), random.choice(_COLUMNS)
        place = f"shop/db/{table}.py:{random.randint(4, 420)}"
        hits.append(f"{place}:    {wanted.subject}({column}_of_{table}, {random.randint(1, 99)})")
    return "\n".join(sorted(hits))


def _table(wanted: Generate, random: Random) -> str:
    columns = wanted.columns or ["REGION", "orders", "revenue"]
    labels = ("North", "South", "East", "West", "Online", "Partner", "Export")
    start = datetime(2026, 1, 1)  # noqa: DTZ001 - a date in a table of sample data

    def cell(column: str) -> str:
        if column.isupper():
            return random.choice(labels)
        if column.endswith("_at"):
            return f"{start + timedelta(days=random.randint(0, 89)):%Y-%m-%d}"
        return f"{random.randint(100, 9_999_999) / 100:,.2f}"

    rows = [" | ".join(f"{cell(c):>14}" for c in columns) for _ in range(wanted.lines)]
    head = " | ".join(f"{c.lower():>14}" for c in columns)
    return "\n".join([f"-- {wanted.subject}", head, "-" * len(head), *rows, f"({wanted.lines} rows)"])


_KINDS: dict[str, Callable[[Generate, Random], str]] = {
    "log": _log,
    "listing": _listing,
    "source": _source,
    "tests": _tests,
    "grep": _grep,
    "table": _table,
}
