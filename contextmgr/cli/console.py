"""The console that results are printed on."""

from __future__ import annotations

from rich.console import Console

WIDTH = 132  # columns where there is no terminal to ask


def output() -> Console:
    """Standard output: as wide as the terminal, or wide enough for the tables where it is none."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)


def progress_output() -> Console:
    """Standard error, where progress is shown."""
    return Console(stderr=True)
