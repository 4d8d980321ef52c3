"""The recall tools over the Model Context Protocol, for any client that speaks it; needs ``contextmgr[mcp]``.

Law: whose history is served is settled before the first call, by whoever starts the server; no call can change it.
"""

from __future__ import annotations

from contextmgr.mcp.addresses import Address
from contextmgr.mcp.http import http_app, serve_http
from contextmgr.mcp.server import recall_server
from contextmgr.mcp.sessions import session_recall
from contextmgr.mcp.stdio import serve_stdio
from contextmgr.mcp.tokens import MIN_TOKEN, read_token

__all__ = [
    "Address",
    "MIN_TOKEN",
    "http_app",
    "read_token",
    "recall_server",
    "serve_http",
    "serve_stdio",
    "session_recall",
]
