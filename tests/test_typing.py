"""Our params unpack into the SDK's calls: proved by the type checkers themselves, on the files in ``typing/``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = ("tests/typing/params.py", "tests/typing/rejected.py")


def run(repository: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a module of this interpreter in the checkout; its output is text."""
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [sys.executable, "-m", *args]
    return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow  # `make test` runs mypy over the same files; here it starts without a cache
def test_params_under_mypy(repository: Path, tmp_path: Path) -> None:
    checked = run(repository, "mypy", "--strict", "--cache-dir", str(tmp_path), "contextmgr/params.py", *FILES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_params_under_pyright(repository: Path) -> None:
    started = run(repository, "pyright", "--version")
    if started.returncode != 0:
        pytest.skip(f"pyright cannot start here: {(started.stderr or started.stdout).strip()[-200:]}")
    checked = run(repository, "pyright", "--pythonpath", sys.executable, *FILES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_params_do_not_import_the_sdk(repository: Path) -> None:
    program = "import sys; sys.modules['anthropic'] = None; from contextmgr.params import RequestParams, CountParams"
    done = subprocess.run([sys.executable, "-c", program], cwd=repository, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
