"""Prompts for the work a model does on history: found, checked and rendered from ``prompts/*.jinja2``.

Law: what users, models and tools said is only ever a value.  It reaches a prompt as one JSON line, so nothing in it
can end the frame it stands in or be read as template source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2

from contextmgr import jsontext
from contextmgr.errors import InputError

SUFFIX = ".jinja2"
_PACKAGE = Path(__file__).parent


def shipped_directory() -> Path:
    """Where the shipped prompts are: inside an installed package, or beside it in a checkout."""
    packaged = _PACKAGE / "prompts"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "prompts"


class Templates:
    """The shipped prompts, each replaced by the file of the same name in ``overrides`` where there is one.

    Raises `InputError` when ``overrides`` is not a directory, or holds a template under a name that is not
    shipped: a misspelt override would silently do nothing.
    """

    def __init__(self, overrides: str | Path | None = None) -> None:
        self._shipped = shipped_directory()
        self._overrides = None if overrides is None else Path(overrides)
        if self._overrides is not None:
            self._check_overrides(self._overrides)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the prompts, sorted, without their suffix."""
        return _names_in(self._shipped)

    def source(self, name: str) -> str:
        """The template text in force for ``name``.  Raises `InputError` for a name that is not shipped."""
        return self._path(name).read_text(encoding="utf-8")

    def version(self, name: str) -> str:
        """SHA-256 of the template text in force: recorded with whatever is derived by it."""
        return jsontext.sha256(self.source(name))

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """The prompt ``name`` with ``values`` filled in, as text that can be sent.

        ``values`` are JSON values; each template's first comment lists the names it reads.  Raises `InputError`
        for an unknown name, a value that is missing or not JSON, or a template that jinja2 cannot read.
        """
        try:
            template = self._environment.from_string(self.source(name))
            return template.render(jsontext.sendable_value(dict(values)))
        except jinja2.UndefinedError as error:
            raise InputError(
                f"prompt {name!r} reads a value that was not given: {error.message}; given were {sorted(values)}"
            ) from error
        except jinja2.TemplateError as error:
            raise InputError(f"prompt {name!r} in {str(self._path(name))!r} is not a template: {error}") from error

    @cached_property
    def _environment(self) -> jinja2.Environment:
        # No loader, so a template reads no other file.  Not HTML, so nothing is escaped: the json filter frames values.
        environment = jinja2.Environment(
            undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
        )
        environment.filters["json"] = _json_line
        return environment

    def _path(self, name: str) -> Path:
        if name not in self.names:
            raise InputError(f"no prompt is called {name!r}; there are {', '.join(self.names)}")
        override = self._overrides and self._overrides / f"{name}{SUFFIX}"
        return override if override and override.is_file() else self._shipped / f"{name}{SUFFIX}"

    def _check_overrides(self, directory: Path) -> None:
        if not directory.is_dir():
            raise InputError(f"the prompt directory {str(directory)!r} is not a directory; name one that exists")
        strangers = sorted(set(_names_in(directory)) - set(self.names))
        if strangers:
            raise InputError(
                f"{str(directory)!r} overrides {', '.join(map(repr, strangers))}, but the prompts are "
                f"{', '.join(self.names)}; rename the file or take it away"
            )


def _names_in(directory: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in directory.glob(f"*{SUFFIX}")))


def _json_line(value: Any) -> str:
    """One line of JSON in the text's own script: escapes would cost tokens and hide the conversation's language."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_refuse)
    except (TypeError, ValueError) as error:
        raise InputError(f"a prompt's values must be JSON, not {value!r}: {error}") from error
    # JSON leaves these two as they are, but they end a line for many readers.
    return line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _refuse(value: object) -> Any:
    str(value)  # an undefined value raises here, with the name of what is missing
    raise TypeError(f"{type(value).__name__} is not a JSON type")
