"""A stand-in for the model's address on the loopback interface, so that the real client runs in tests unchanged.

It answers with the same words every time, whole or as a stream, and counts about three bytes as one token.  Where the
newest message names a tool that the request offers, it calls that tool instead.  A ``script`` answers in its place:
from the request's body it makes the content blocks of the answer.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "Done: every statement is prepared, none is put together from strings."


Script = Callable[[dict[str, Any]], list[dict[str, Any]]]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    bodies: list[dict[str, Any]]
    script: Script | None = None


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        self.server.bodies.append(body)
        size = len(raw) // 3
        if self.path.startswith("/v1/messages/count_tokens"):
            self._send("application/json", json.dumps({"input_tokens": size}))
        elif not self.path.startswith("/v1/messages"):
            self.send_error(404)
        elif body.get("stream"):
            self._send("text/event-stream", "".join(_events(self._message(body, size))))
        else:
            self._send("application/json", json.dumps(self._message(body, size)))

    def _message(self, body: dict[str, Any], size: int) -> dict[str, Any]:
        number, script = len(self.server.bodies), self.server.script
        if script is None:
            call = _call(body, number)
            return _message(body, size, number, [call or {"type": "text", "text": ANSWER}])
        return _message(body, size, number, script(body))

    def _send(self, kind: str, text: str) -> None:
        payload = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _message(body: dict[str, Any], size: int, number: int, content: list[dict[str, Any]]) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": size, "output_tokens": 16},
    }


def _call(body: dict[str, Any], number: int) -> dict[str, Any] | None:
    """A call of the first tool that the newest message names, every required argument a placeholder."""
    content = body["messages"][-1]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    said = " ".join(block["text"] for block in blocks if block["type"] == "text")
    answered = any(block["type"] == "tool_result" for block in blocks)
    for tool in () if answered else body.get("tools", ()):
        if tool["name"] in said:
            values = dict.fromkeys(tool["input_schema"].get("required", ()), "example")
            return {"type": "tool_use", "id": f"toolu_{number:04}", "name": tool["name"], "input": values}
    return None


def _events(message: dict[str, Any]) -> Iterator[str]:
    """The message as server-sent events, its one block in one piece."""
    (block,) = message["content"]
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    steps: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": message["usage"]},
        {"type": "message_stop"},
    ]
    return (f"event: {step['type']}\ndata: {json.dumps(step)}\n\n" for step in steps)


@contextmanager
def model_server(script: Script | None = None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Run the stand-in; yields its base URL and the list of request bodies it received."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.bodies, server.script = [], script
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", server.bodies
        finally:
            server.shutdown()
            thread.join()
