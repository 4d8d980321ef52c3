"""What can be wrong with a request: the rules, each with its id and one line, and the finding that names one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "V01": "`model` is a non-blank string.",
        "V02": "`max_tokens` is a whole number of tokens, 0 or more.",
        "V03": "`messages` is a list of 1 to 100,000 messages.",
        "V04": "A message has a `role` and a `content`, nothing else, and its role is `user` or `assistant`.",
        "V05": "The first message is `user`.",
        "V06": "The last message is `user`, or a paused assistant turn sent back as it is.",
        "V07": "Neighbouring messages have different roles.",
        "V08": "Content is a non-empty list of blocks, each with a `type`; results hold no calls, results or thinking.",
        "V09": "No text is empty or only white space, results included.",
        "V10": "A request that ends on an assistant message does not end with white space.",
        "V11": "A call stands in an assistant message, with a well-formed `id` and `name` and an `input` object.",
        "V12": "No two calls of a request have the same id.",
        "V13": "Every call has exactly one result in the very next user message.",
        "V14": "Results come first in their message.",
        "V15": "A result stands in a user message and answers a call of the message just before.",
        "V16": "Calls and results are sent only together with a non-empty `tools`.",
        "V17": "A server tool's result follows its call before the assistant's turn is over.",
        "V18": "Thinking stands in assistant messages, with its `signature` (or, redacted, its `data`).",
        "V19": "There are at most 4 cache marks, those of tools and system included.",
        "V20": "A cache mark is well-formed and stands on a block that can be marked.",
        "V21": "Cache marks with the longer lifetime come first.",
        "V22": "`system` is a non-blank string or a non-empty list of non-blank text blocks.",
        "V23": "`tools` is a list of tools with a type or an input schema and with names of their own.",
        "V24": "`thinking` has a `type`, and a budget of at least 1,024 tokens where it is enabled by hand.",
        "V25": "Every string can be sent as it is: no lone surrogate, no NUL.",
        "V26": "The request can be written as JSON.",
        "V27": "The request is at most 32 MB as JSON.",
        "V28": "An image or document has a well-formed source of a kind the API reads.",
    }
)
"""Every rule by its id.  The texts are the documentation: ``docs/validity.md`` holds the same table."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach: the ``rule`` (a key of `RULES`), ``where`` it is (``messages[3].content[0]``), and a ``message``."""

    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule} {self.where}: {self.message}"
