"""The bearer token that opens the HTTP server: read once, compared in constant time, never logged."""

from __future__ import annotations

import hmac
import os
from pathlib import Path

from mcp.server.auth.provider import AccessToken, TokenVerifier

from contextmgr.errors import InputError

VARIABLE = "CONTEXTMGR_MCP_TOKEN"
MIN_TOKEN = 16
"""Characters of the shortest token that is taken."""
_MAX_FILE = 4_096  # bytes
_ADVICE = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


def read_token(file: Path | None) -> str:
    """The token that ``file`` holds, or without one the environment variable ``CONTEXTMGR_MCP_TOKEN``.

    Raises `InputError` where there is none, or one that is short or not plain ASCII without spaces.
    """
    where = f"the token file {str(file)!r}" if file is not None else f"the environment variable {VARIABLE}"
    token = (_read(file) if file is not None else os.environ.get(VARIABLE, "")).strip()
    if not token:
        raise InputError(f"serving over HTTP needs a token, and {where} holds none; {_ADVICE}")
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{where} holds no token of at least {MIN_TOKEN} ASCII characters without spaces; {_ADVICE}")
    return token


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_MAX_FILE).decode("ascii", "replace")
    except OSError as error:
        raise InputError(f"the token file {str(file)!r} cannot be read: {error.strerror or error}") from error


class OneToken(TokenVerifier):
    """Takes one token and no other."""

    def __init__(self, token: str) -> None:
        self._token = token.encode("ascii")

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who the token stands for, or None."""
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self._token):
            return None
        return AccessToken(token="", client_id="bearer", scopes=[])
