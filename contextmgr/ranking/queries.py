"""What is asked of a history: the terms to look for, how much each matters, and whose words are meant.

Query text is data: there are no operators, and no text raises.  Stop words never carry a match; what people say around
a question ("can you remind me what we discussed") carries little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from contextmgr.ranking.analysis import terms
from contextmgr.ranking.dates import NEVER, When, when
from contextmgr.ranking.folding import fold
from contextmgr.ranking.stems import stem
from contextmgr.ranking.stopwords import IN_LANGUAGE, REQUESTS, TELLING

MAX_TERMS = 64
"""Different terms of a query that are looked for; a longer text, such as a pasted log, is known by its first ones."""
MAX_CHARACTERS = 20_000
"""Characters of a query that are read."""

_ABOUT_ANSWER = re.compile(
    r"\byou(?:['’]d|['’]ve|\s+had|\s+have)?(?:\s+just|\s+also|\s+specifically|\s+previously|\s+earlier)?\s+"
    r"(?:said|mentioned|suggested|recommended|told|gave|provided|listed|described|created|explained|shared|wrote"
    r"|referred|proposed|advised|outlined|helped\s+me)\b"
    r"|\bdid\s+you\s+(?:\w+\s+)?"
    r"(?:say|mention|suggest|recommend|tell|give|provide|list|describe|create|explain|share|write|refer|propose|advise"
    r"|outline|help)\b",
    re.IGNORECASE,
)
_REQUEST_STEMS = frozenset(map(stem, REQUESTS))
_FOREIGN = {name: frozenset(map(stem, words)) for name, words in IN_LANGUAGE.items()}
_IDENTIFYING = re.compile(r"\w[^\w\s]\w|_|\d")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was read.

    ``terms`` are different index terms in the order asked; ``requests`` those of them that only ask; ``pairs`` are
    neighbours, neither of them a request; ``identifiers`` hold a digit or a sign; ``dates`` are words of ``when``,
    which a turn of that time need not hold.  ``about_answer`` says that the assistant's words are asked for.
    """

    text: str = ""
    terms: tuple[str, ...] = ()
    requests: frozenset[str] = frozenset()
    pairs: tuple[tuple[str, str], ...] = ()
    identifiers: frozenset[str] = frozenset()
    dates: frozenset[str] = frozenset()
    when: When = NEVER
    about_answer: bool = False

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.terms)


def query_terms(text: str) -> Query:
    """Read a query; an empty `Query` for text that is blank, symbols, or stop words only."""
    text = text[:MAX_CHARACTERS]
    foreign = _foreign_words(text)
    found = tuple(dict.fromkeys(term for term in terms(text) if term not in foreign))[:MAX_TERMS]
    requests = frozenset(found) & _REQUEST_STEMS
    asked_when = when(text)
    dates = frozenset(terms(" ".join(asked_when.words))) & frozenset(found)
    told = [term for term in found if term not in requests]
    return Query(
        text=text,
        terms=found,
        requests=requests if told else frozenset(),
        pairs=tuple((a, b) for a, b in pairwise(found) if a not in requests and b not in requests),
        identifiers=frozenset(filter(_IDENTIFYING.search, found)) - dates,
        dates=dates,
        when=asked_when,
        about_answer=_ABOUT_ANSWER.search(text) is not None,
    )


def candidate_terms(query: Query) -> list[str]:
    """The terms to ask a full-text index for, identifiers first: a turn with none of them can only be lent weight.

    Terms that only ask are left out where there are others.  Quote each as a phrase; none is grammar.
    """
    wanted = [term for term in query.terms if term not in query.requests]
    return sorted(wanted, key=lambda term: term not in query.identifiers)


def _foreign_words(text: str) -> frozenset[str]:
    """Function words, as terms, of the language that the text shows by words which exist in no other."""
    words = set(_WORD.findall(fold(text)))
    shown = {name: len(words & telling) for name, telling in TELLING.items()}
    best = max(shown, key=lambda name: shown[name])
    return _FOREIGN[best] if shown[best] else frozenset()
