"""Children of one process, started together: forking spares each of them the seconds that importing takes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any


def say(value: object) -> None:
    """One line of JSON for the test to read."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def together(parts: Sequence[Callable[[], object]]) -> list[Any]:
    """Run each part in a child of its own, all let go at once; returns what they returned, in order."""
    go = os.pipe()
    results = [os.pipe() for _ in parts]
    children = [_child(part, go, result) for part, result in zip(parts, results, strict=True)]
    for end in (*go, *(into for _, into in results)):
        os.close(end)
    found = []
    for out, _ in results:
        with os.fdopen(out) as lines:
            found.append(lines.read())
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)
    return [json.loads(text) for text in found]


def _child(part: Callable[[], object], go: tuple[int, int], result: tuple[int, int]) -> int:
    number = os.fork()
    if number == 0:
        os.close(go[1])
        os.read(go[0], 1)  # until the parent closes its end, and every earlier child has closed its own
        os.write(result[1], json.dumps(part()).encode())
        os._exit(0)
    return number
