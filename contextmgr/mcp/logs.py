"""What a server says while it runs: to standard error, and nothing of what was asked or answered.

Records of other libraries may quote a message, so of those only level, place and kind of error are shown.
"""

from __future__ import annotations

import logging
import sys

_OWN = "contextmgr"


class ContentFree(logging.Formatter):
    """Our own records in full; of others where they come from and, where one failed, the type of the error."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        if record.name.partition(".")[0] == _OWN:
            return f"contextmgr: {record.levelname.lower()}: {record.getMessage()}"
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] is not None else None
        error = f" ({kind})" if kind else ""
        return f"contextmgr: {record.levelname.lower()}: {record.name}:{record.funcName}:{record.lineno}{error}"


def log_to_stderr() -> None:
    """Send warnings of all libraries, and notices of ours, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ContentFree())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(_OWN).setLevel(logging.INFO)
