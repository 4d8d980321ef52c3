"""A model's address on the loopback interface that answers as scripted, so that the real client meets real failures."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = {"items": [{"text": "Chose SQLite.", "kind": "decision", "turns": [4]}]}
GOOD_TEXT = json.dumps(GOOD)
USAGE = {"input_tokens": 1000, "output_tokens": 200}


@dataclass(frozen=True)
class Reply:
    """One answer: a message with these blocks, or an HTTP error, whole or broken off, at once or never."""

    content: Sequence[Mapping[str, Any]] = ({"type": "text", "text": GOOD_TEXT},)
    stop_reason: str = "end_turn"
    usage: Mapping[str, int] = field(default_factory=lambda: USAGE)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    half: bool = False
    hangs: bool = False


def text(words: str, stop_reason: str = "end_turn") -> Reply:
    return Reply(({"type": "text", "text": words},), stop_reason)


TOOL_CALL = Reply(({"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}},), "tool_use")


@dataclass
class Model:
    """A running stand-in: where it is, what it was asked, what it will answer (the last reply again and again)."""

    url: str
    replies: list[Reply]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        model = self.server.model
        model.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        reply = model.next()
        if reply.hangs:
            model.over.wait()
            return
        payload = json.dumps(_body(reply, model)).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(payload[: len(payload) // 2] if reply.half else payload)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _body(reply: Reply, model: Model) -> dict[str, Any]:
    if reply.status != 200:
        return {"type": "error", "error": {"type": "api_error", "message": f"status {reply.status}"}}
    return {
        "id": f"msg_{len(model.bodies)}",
        "type": "message",
        "role": "assistant",
        "model": model.bodies[-1]["model"],
        "content": list(reply.content),
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": dict(reply.usage),
    }


@contextmanager
def scripted(*replies: Reply) -> Iterator[Model]:
    """Run a stand-in that gives ``replies`` in turn."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.model = Model(f"http://127.0.0.1:{server.server_port}", list(replies) or [Reply()])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server.model
        finally:
            server.model.over.set()
            server.shutdown()
            thread.join()
