"""``contextmgr mcp``: the recall tools for any MCP client, over standard input and output or over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contextmgr.cli.existing import existing_store
from contextmgr.errors import InputError
from contextmgr.scope import Scope, check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served, to whom and where.  ``http`` is an address, or None for standard input and output."""

    store: str
    scope: Scope
    conversation: str | None = None
    projects: Sequence[str] = ()
    chat_url: str | None = None
    http: str | None = None
    token_file: Path | None = None
    allow_hosts: Sequence[str] = ()


def run(serving: Serving) -> None:
    """Serve until the client goes, or the process is told to stop.

    Raises `InputError` where the extra is not installed, or for an address or token that cannot be used; `StoreError`
    for a store that is not there; `NotFoundError` for a conversation that is not in the scope; `OSError` for an
    address that is taken.
    """
    try:
        from contextmgr import mcp
        from contextmgr.mcp.logs import log_to_stderr
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("contextmgr"):
            raise
        raise InputError(
            f"serving MCP needs the package {error.name!r}; install it with: pip install 'contextmgr[mcp]'"
        ) from error
    if serving.conversation is not None:
        check_name("conversation", serving.conversation)
    if serving.http is None and (serving.token_file is not None or serving.allow_hosts):
        raise InputError("--token-file and --allow-host belong to --http HOST:PORT; give that too, or leave them out")
    log_to_stderr()
    store = existing_store(serving.store)
    try:
        recall = mcp.session_recall(
            store,
            serving.scope,
            conversation=serving.conversation,
            projects=serving.projects,
            chat_url=serving.chat_url,
        )
        server = mcp.recall_server(recall, serving.conversation)
        if serving.http is None:
            mcp.serve_stdio(server)
            return
        address = mcp.Address.parse(serving.http)
        token, names = mcp.read_token(serving.token_file), address.names(serving.allow_hosts)
        with address.listen() as listener:
            mcp.serve_http(server, listener, token, names=names)
    except KeyboardInterrupt:
        pass  # whoever started it has seen enough
    finally:
        store.close()
