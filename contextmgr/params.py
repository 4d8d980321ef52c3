"""Types of what is sent: `RequestParams` unpacks into ``create`` and ``stream``, `CountParams` into ``count_tokens``.

For type checkers only: at run time both are plain dicts.  The SDK's own types are named but never imported when
the program runs, because importing anthropic takes seconds; ``typing.get_type_hints`` on these classes therefore
needs the SDK's names in ``localns``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NotRequired, TypedDict

if TYPE_CHECKING:
    from anthropic.types import (
        MessageCountTokensToolParam,
        MessageParam,
        TextBlockParam,
        ThinkingConfigParam,
        ToolUnionParam,
    )


class RequestParams(TypedDict):
    """Arguments for ``client.messages.create(**params)`` and ``client.messages.stream(**params)``.

    ``max_tokens`` is in tokens.  ``messages`` holds ``{"role", "content"}`` dicts whose content is always a list of
    blocks; ``system`` a list of text blocks.
    """

    model: str
    max_tokens: int
    messages: list[MessageParam]
    system: NotRequired[list[TextBlockParam]]
    tools: NotRequired[list[ToolUnionParam]]
    thinking: NotRequired[ThinkingConfigParam]


class CountParams(TypedDict):
    """Arguments for ``client.messages.count_tokens(**params)``: the same request, without ``max_tokens``."""

    model: str
    messages: list[MessageParam]
    system: NotRequired[list[TextBlockParam]]
    tools: NotRequired[list[MessageCountTokensToolParam]]
    thinking: NotRequired[ThinkingConfigParam]
