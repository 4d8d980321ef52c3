"""Claude Code session files: JSON Lines of events, one content block of a reply per line.

What the recorded client sent to its model is kept: messages it put in by itself (``isMeta`` lines, command output, the
text of slash commands, notices of interruption) are `Said` with ``human=False``.  What it kept for itself (progress,
snapshots, queues, hook summaries) is left out.  A compaction is counted and its summary left out: the turns it stood
for are in the file; only where the file begins with a summary does it stand in for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from contextmgr.transcripts.fields import anthropic_usage, items, mapping, text, when
from contextmgr.transcripts.recorded_file import RecordedFile
from contextmgr.transcripts.recorder import Recorder
from contextmgr.transcripts.session import Session

NAME = "claude-code"
SYNTHETIC_MODEL = "<synthetic>"
_BOOKKEEPING = frozenset(
    {
        "agent-color",
        "agent-name",
        "ai-title",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "summary",
        "tag",
    }
)
_CLIENT_TEXT = re.compile(
    r"<(?P<tag>(?:command|local-command|bash|task|system|ide|user-prompt-submit)[-_][a-z_-]+)[^>]*>.*?</(?P=tag)>"
    r"|\[Request interrupted by user[^\]]*\]",
    re.DOTALL,
)
_CLIENT_START = ("<task-notification>", "<local-command-", "<bash-")
_ARGUMENTS = re.compile(r"<command-args>\s*[^<\s]", re.DOTALL)


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether a line is one of this format: an event with a message, its place in a chain and a session."""
    is_event = value.get("type") in ("user", "assistant") and isinstance(value.get("message"), Mapping)
    return is_event and ("uuid" in value or "parentUuid" in value or "sessionId" in value)


def is_client_text(said: str) -> bool:
    """Whether a user text is the client's own: nothing but marked-up notices, and no arguments a person gave."""
    if said.lstrip().startswith(_CLIENT_START):
        return True
    return not _CLIENT_TEXT.sub("", said).strip() and not _ARGUMENTS.search(said)


def read(recorded: RecordedFile) -> list[Session]:
    """The main conversation, then each sub-agent's in order of its first line."""
    reader = _Reader()
    reader.main.skipped = recorded.broken
    for _, value in recorded.records:
        reader.line(value)
    reader.main.title = reader.title
    sessions: list[Session] = []
    for recorder in (reader.main, *reader.sidechains.values()):
        found = recorder.session(file=recorded.file, format=NAME, index=len(sessions))
        sessions += [found] if found else []
    return sessions


class _Reader:
    """Sorts lines into conversations and hands their content to the conversation's recorder."""

    def __init__(self) -> None:
        self.main = Recorder()
        self.sidechains: dict[str, Recorder] = {}
        self._seen: set[str] = set()
        self._titles: dict[str, str] = {}
        self._root: dict[str, str] = {}
        self._at_boundary: Recorder | None = None

    def line(self, value: object) -> None:
        """Take one line; lines of a resumed session that were seen before are left out."""
        line = mapping(value)
        uuid = text(line.get("uuid"))
        if uuid and uuid in self._seen:
            return
        if uuid:
            self._seen.add(uuid)
        recorder = self._sidechain(line, uuid) if line.get("isSidechain") is True else self.main
        kind = line.get("type")
        if kind == "assistant":
            self._assistant(recorder, line)
        elif kind == "user":
            self._user(recorder, line)
        elif kind == "system":
            self._system(recorder, line)
        elif kind == "attachment":
            self._attachment(recorder, line)
        elif isinstance(kind, str) and kind in _BOOKKEEPING:
            self._note_title(line)
        else:
            recorder.skipped += 1

    def _sidechain(self, line: Mapping[str, Any], uuid: str | None) -> Recorder:
        """The recorder of the sub-agent that wrote the line: by its id, else by the root of its chain."""
        parent = text(line.get("parentUuid"))
        root = text(line.get("agentId")) or self._root.get(parent or "") or uuid or parent or ""
        if uuid:
            self._root[uuid] = root
        return self.sidechains.setdefault(root, Recorder(sidechain=True))

    def _assistant(self, recorder: Recorder, line: Mapping[str, Any]) -> None:
        message = mapping(line.get("message"))
        if message.get("model") == SYNTHETIC_MODEL or line.get("isApiErrorMessage") is True:
            recorder.skipped += 1
            return
        recorder.replied(
            message.get("content"),
            message_id=text(message.get("id")),
            stop_reason=text(message.get("stop_reason")),
            model=text(message.get("model")),
            usage=anthropic_usage(message.get("usage")),
            at=when(line.get("timestamp")),
        )

    def _user(self, recorder: Recorder, line: Mapping[str, Any]) -> None:
        content = mapping(line.get("message")).get("content")
        if line.get("isCompactSummary") is True:
            recorder.compactions += self._at_boundary is not recorder
            self._at_boundary = None
            if not recorder.is_empty:
                return
        elif line.get("isVisibleInTranscriptOnly") is True:
            return
        recorder.user_message(
            content, at=when(line.get("timestamp")), source=text(line.get("uuid")), human=_is_human(line, content)
        )

    def _system(self, recorder: Recorder, line: Mapping[str, Any]) -> None:
        subtype = line.get("subtype")
        if subtype == "compact_boundary":
            recorder.compactions += 1
            self._at_boundary = recorder
        elif subtype == "local_command" and text(line.get("content")):
            at = when(line.get("timestamp"))
            recorder.said(line["content"], at=at, source=text(line.get("uuid")), human=False)

    def _attachment(self, recorder: Recorder, line: Mapping[str, Any]) -> None:
        """A message typed while the model worked; other attachments are the client's and not told in full."""
        attachment = mapping(line.get("attachment"))
        if attachment.get("type") != "queued_command":
            recorder.skipped += 1
            return
        prompt = attachment.get("prompt")
        human = attachment.get("commandMode") in (None, "prompt") and _is_human(line, prompt)
        recorder.said(prompt, at=when(line.get("timestamp")), source=text(line.get("uuid")), human=human)

    def _note_title(self, line: Mapping[str, Any]) -> None:
        """Titles by what they name: "" for this session, else the last event of the session that was summed up."""
        title = text(line.get("customTitle")) or text(line.get("aiTitle")) or text(line.get("summary"))
        if title:
            self._titles[text(line.get("leafUuid")) or ""] = title

    @property
    def title(self) -> str | None:
        """The session's title: as given, else the last one whose summed-up event is in this file."""
        named = [title for leaf, title in self._titles.items() if leaf in self._seen]
        return self._titles.get("") or (named[-1] if named else None)


def _is_human(line: Mapping[str, Any], content: object) -> bool:
    """Whether a person (for a sub-agent: who called it) said this, rather than the client."""
    if line.get("isMeta") is True or line.get("isCompactSummary") is True:
        return False
    if mapping(line.get("origin")).get("kind", "human") != "human":
        return False
    if isinstance(content, str):
        return not is_client_text(content)
    said = [b for b in map(mapping, items(content)) if b.get("type") != "tool_result"]
    return any(b.get("type") != "text" or not is_client_text(str(b.get("text"))) for b in said)
