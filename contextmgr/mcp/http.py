"""Serving over streamable HTTP: a bearer token for every request, known names only, small bodies, few at a time."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from contextmgr.mcp.addresses import Address
from contextmgr.mcp.tokens import OneToken

PATH = "/mcp"
MAX_BODY = 256 * 1024
"""Bytes of the largest request body that is read."""
_AT_ONCE = 64  # connections and requests; further ones are told to come back
_GRACE = 5  # seconds that requests under way may still take when the server is stopped
_LOG = logging.getLogger(__name__)


def http_app(server: Server[Any], token: str, *, names: Sequence[str]) -> Starlette:
    """The server as an ASGI application at ``/mcp``.

    Without ``token`` a request gets 401, under a host or origin that is not one of ``names`` 421 or 403, with a body
    above `MAX_BODY` bytes 413.  Each request stands alone; the server keeps no session.
    """
    verifier = OneToken(token)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
            allowed_origins=[
                form
                for name in names
                for kind in ("http", "https")
                for form in (f"{kind}://{name}", f"{kind}://{name}:*")
            ],
        ),
        token_verifier=verifier,
    )
    app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier))
    return app


def serve_http(server: Server[Any], listener: socket.socket, token: str, *, names: Sequence[str]) -> None:
    """Serve on a listening socket until the process is told to stop."""
    config = uvicorn.Config(
        http_app(server, token, names=names),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=_AT_ONCE,
        timeout_graceful_shutdown=_GRACE,
    )
    host, port = listener.getsockname()[:2]
    if not Address(host, port).is_local:
        _LOG.warning("other machines can reach this address: put TLS in front, or the token travels in the clear")
    _LOG.info("serving MCP at http://%s:%d%s", Address(host, port).name, port, PATH)
    uvicorn.Server(config).run(sockets=[listener])
