"""SWE-agent trajectories: one object per run, with the messages as sent under ``history``.

In the plain variant commands are text and their output comes back as user messages; the function-calling variant has
calls and tool messages.  Only the task itself, the first message that is no demonstration, is a person's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextmgr.transcripts.fields import items, mapping, text
from contextmgr.transcripts.openai_messages import calls
from contextmgr.transcripts.parts import blocks_of, plain, result_content
from contextmgr.transcripts.recorded_file import RecordedFile
from contextmgr.transcripts.recorder import Recorder
from contextmgr.transcripts.session import Session

NAME = "swe-agent"


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a document is one of this format."""
    history = items(value.get("history"))
    return isinstance(value.get("trajectory"), list) and any(isinstance(mapping(m).get("role"), str) for m in history)


def read(recorded: RecordedFile) -> list[Session]:
    """The run's conversation; a file of several runs, one per line, gives several."""
    sessions: list[Session] = []
    for _, value in recorded.records:
        found = _recorded(mapping(value), recorded.broken).session(file=recorded.file, format=NAME, index=len(sessions))
        sessions += [found] if found else []
    return sessions


def _recorded(run: Mapping[str, Any], skipped: int) -> Recorder:
    recorder = Recorder(title=text(run.get("environment")), skipped=skipped)
    is_begun = False
    for number, value in enumerate(items(run.get("history"))):
        message = mapping(value)
        role, content = message.get("role"), message.get("content")
        is_demo = message.get("is_demo") is True
        source = f"message:{number}"
        if role == "system" and recorder.is_empty:
            recorder.system = "\n\n".join(filter(None, [recorder.system, plain(content)])) or None
        elif role == "assistant" and not is_demo:
            recorder.replied(blocks_of(content) + calls(message, number))
            is_begun = True
        elif role == "tool" and not is_demo:
            recorder.returned(_results(message, recorder))
        elif role in ("system", "user", "assistant", "tool"):
            human = role == "user" and not is_demo and not is_begun
            recorder.said(blocks_of(content), source=source, human=human)
            is_begun = is_begun or human
        else:
            recorder.skipped += 1
    return recorder


def _results(message: Mapping[str, Any], recorder: Recorder) -> list[dict[str, object]]:
    """One result per call the message answers: the first holds the observation, as all calls share it."""
    ids = items(message.get("tool_call_ids")) or recorder.open_ids()[:1]
    content = result_content(message.get("content"))
    return [
        {"type": "tool_result", "tool_use_id": call_id, "content": content if i == 0 else ""}
        for i, call_id in enumerate(ids)
    ]
