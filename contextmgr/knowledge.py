"""Small objects of the facade for what is known: facts, notes, and a model of yours as typed state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from contextmgr import jsontext
from contextmgr.errors import FactError, NotFoundError
from contextmgr.facts import Fact, FactAuthor, FactKind, FactScope, Note, check_key
from contextmgr.keeping import Keeping
from contextmgr.store import Transaction

MOST = 1_000  # facts that list() returns
Model = TypeVar("Model", bound=BaseModel)


class Facts:
    """The facts of one conversation, and of the project and user it belongs to."""

    def __init__(self, name: str, keeping: Keeping) -> None:
        self._name = name
        self._keeping = keeping

    def set(
        self,
        key: str,
        value: Any,
        *,
        turn: int | None = None,
        author: FactAuthor = "user",
        scope: FactScope | str = FactScope.CONVERSATION,
        kind: FactKind | str = FactKind.FACT,
        valid_from: datetime | None = None,
    ) -> Fact:
        """Set a JSON value and return the fact in force then; the next request with a new turn shows it.

        ``turn`` is where it was said and ``author`` who says so.  The value before it is kept; the same value again
        changes nothing, and neither does one from an earlier turn.  Raises `FactError` or `NotFoundError`.
        """
        with self._keeping.store.writing(self._keeping.scope) as tx:
            return self._keeping.set_fact(
                tx, self._name, key, value, author=author, turn=turn, scope=scope, kind=kind, valid_from=valid_from
            )

    def get(self, key: str, *, scope: FactScope | str = FactScope.CONVERSATION) -> Fact | None:
        """The value in force, or None; erased values are not in force, and bring no older one back."""
        with self._keeping.store.reading(self._keeping.scope) as tx:
            return tx.state.current(self._name, _scope(scope), check_key(key))

    def history(self, key: str, *, scope: FactScope | str = FactScope.CONVERSATION) -> list[Fact]:
        """Every value a key had, oldest first, with turns; erased ones hold None."""
        with self._keeping.store.reading(self._keeping.scope) as tx:
            return tx.state.history(self._name, _scope(scope), check_key(key))

    def list(self, *, scope: FactScope | str = FactScope.CONVERSATION) -> list[Fact]:
        """Every value in force, by key, at most `MOST`."""
        with self._keeping.store.reading(self._keeping.scope) as tx:
            return sorted(tx.state.facts(self._name, _scope(scope), MOST), key=lambda f: f.key)


class Notes:
    """The scratchpad of one conversation: named sections such as plan, open questions or files touched."""

    def __init__(self, name: str, keeping: Keeping) -> None:
        self._name = name
        self._keeping = keeping

    def set(self, section: str, text: str) -> Note:
        """Set a section.  Raises `FactError` for a text over 8,000 characters or a section over the 24th."""
        return self._put(section, text, append=False)

    def append(self, section: str, text: str) -> Note:
        """Add a line, or several, to a section, which is begun where there is none.  Raises `FactError`."""
        return self._put(section, text, append=True)

    def get(self, section: str) -> str:
        """What a section says; "" where there is none."""
        return next((n.text for n in self.list() if n.section == section), "")

    def list(self) -> list[Note]:
        """Every section, by name."""
        with self._keeping.store.reading(self._keeping.scope) as tx:
            return [n for n in tx.state.notes(self._name) if n.text]

    def drop(self, section: str) -> None:
        """Take a section away.  Raises `NotFoundError`."""
        if not self.get(section):
            raise NotFoundError(f"there is no note {section!r} in conversation {self._name!r}")
        self._put(section, "", append=False)

    def _put(self, section: str, text: str, *, append: bool) -> Note:
        with self._keeping.store.writing(self._keeping.scope) as tx:
            return self._keeping.set_note(tx, self._name, section, text, append=append)


class TypedState(Generic[Model]):
    """A pydantic model kept as one fact per field, named ``model_name.field``; every write is validated."""

    def __init__(self, model: type[Model], name: str, keeping: Keeping) -> None:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise FactError(f"state() takes a pydantic model class, not {model!r}")
        self._model = model
        self._name = name
        self._keeping = keeping
        self._prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", model.__name__).lower()

    def get(self) -> Model | None:
        """The state as set last, or None where nothing was set.  Raises `FactError` where the model has changed so that
        what is kept no longer fits it.
        """
        facts = self.facts()
        if not facts:
            return None
        return self._valid({name: fact.value for name, fact in facts.items()})

    def facts(self) -> dict[str, Fact]:
        """The fact behind each field that is set: its turn, author and date."""
        with self._keeping.store.reading(self._keeping.scope) as tx:
            return self._in_force(tx)

    def set(self, state: Model, *, turn: int | None = None, author: FactAuthor = "user") -> Model:
        """Set every field.  Raises `FactError`, and then changes nothing."""
        if not isinstance(state, self._model):
            raise FactError(f"set() takes a {self._model.__name__}, not {state!r:.80}")
        return self.update(self._values(state), turn=turn, author=author)

    def update(self, changes: Mapping[str, Any], *, turn: int | None = None, author: FactAuthor = "user") -> Model:
        """Change some fields, and return the state in force then; the whole is validated before anything is written,
        and what others write meanwhile waits.  Raises `FactError`.
        """
        if not isinstance(changes, Mapping):
            raise FactError(f"update() takes a mapping of fields, not {changes!r:.80}")
        with self._keeping.store.writing(self._keeping.scope) as tx:
            known = {name: fact.value for name, fact in self._in_force(tx).items()}
            values = self._values(self._valid({**known, **changes}))
            for name in self._fields():
                if name in changes or name not in known:
                    self._keeping.set_fact(tx, self._name, self._key(name), values[name], author=author, turn=turn)
            return self._valid({name: fact.value for name, fact in self._in_force(tx).items()})

    def _in_force(self, tx: Transaction) -> dict[str, Fact]:
        found = {n: tx.state.current(self._name, FactScope.CONVERSATION, self._key(n)) for n in self._fields()}
        return {n: f for n, f in found.items() if f is not None}

    def _fields(self) -> list[str]:
        return [name for name, field in self._model.model_fields.items() if not field.exclude]

    def _key(self, field: str) -> str:
        return f"{self._prefix}.{field}"

    def _values(self, state: Model) -> dict[str, Any]:
        """Every field as JSON.  Raises `FactError` for a value that would not come back as it is, such as a secret."""
        made = self._model.model_computed_fields
        try:
            dumped = state.model_dump(mode="json", by_alias=False)
        except ValueError as error:  # a serializer's error is one
            raise FactError(f"a {self._model.__name__} cannot be kept as JSON: {error}") from error
        values = {name: value for name, value in dumped.items() if name not in made}
        again = self._valid(values)
        lost = [n for n in self._fields() if _differs(getattr(state, n), getattr(again, n))]
        if lost:
            raise FactError(f"{', '.join(lost)} of {self._model.__name__} would not come back from JSON as set")
        return values

    def _valid(self, values: Mapping[str, Any]) -> Model:
        unknown = sorted(repr(name) for name in values if name not in self._fields())
        if unknown:
            raise FactError(f"{self._model.__name__} has no field {', '.join(unknown)} that is kept")
        try:
            return self._model.model_validate_json(jsontext.dumps(values), by_alias=True, by_name=True)
        except (ValidationError, TypeError, ValueError) as error:
            raise FactError(f"not a valid {self._model.__name__}: {error}") from error


def _differs(one: object, other: object) -> bool:
    """Whether values that can be compared are not equal."""
    return type(one).__eq__ is not object.__eq__ and one != other


def _scope(scope: FactScope | str) -> FactScope:
    try:
        return FactScope(scope)
    except ValueError:
        names = ", ".join(repr(str(s)) for s in FactScope)
        raise FactError(f"scope={scope!r} is unknown; use one of {names}") from None
