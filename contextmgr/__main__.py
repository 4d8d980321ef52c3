"""``python -m contextmgr``: the command line."""

from __future__ import annotations

from contextmgr.cli import main

if __name__ == "__main__":
    main()
