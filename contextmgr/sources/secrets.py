"""Takes secrets out of a text, by their known forms and by the names they stand behind.

Every pattern is tried only where one of its key words stands, found by plain search: so a text of megabytes costs
milliseconds, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

REDACTED = "[redacted]"

_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----(?:[^-]|-(?!----)){0,20000}+"
    r"(?:-----END [A-Z0-9 ]{1,60}-----)?"
)
_FORM_STARTS = (
    *("sk-", "sk_", "rk_", "pk_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-"),
    *("xox", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "GOCSPX-", "hf_", "npm_", "pypi-", "SG.", "doo_v1_", "dop_v1_"),
    *("dor_v1_", "shpat_", "shpss_", "sq0", "lin_api_", "key-", "SK", "dapi", "glsa_", "sntrys_", "r8_", "gsk_"),
    *("pplx-", "xai-", "tvly-", "AGE-SECRET-KEY-", "eyJ"),
)
_FORM = re.compile(
    r"""(?<![A-Za-z0-9_-])(?:
      sk-(?:[a-z]{2,10}-)?[\w-]{16,}   |[srp]k_(?:live|test)_\w{10,}   |whsec_\w{16,}   |gh[pousr]_\w{16,}
      |github_pat_\w{20,}   |glp(?:at|tt)-[\w-]{16,}   |xox[a-z]-[\w-]{10,}   |xapp-[\w-]{20,}   |A[KS]IA[0-9A-Z]{16}
      |AIza[\w-]{30,}   |ya29\.[\w.-]{16,}   |GOCSPX-[\w-]{16,}   |hf_[A-Za-z0-9]{20,}   |npm_\w{30,}   |pypi-[\w-]{40,}
      |SG\.[\w-]{16,}\.[\w-]{16,}   |do[opr]_v1_\w{30,}   |shp(?:at|ss)_\w{20,}   |sq0(?:atp|csp)-[\w-]{20,}
      |lin_api_\w{20,}   |key-[0-9a-f]{32}   |SK[0-9a-f]{32}   |dapi[0-9a-f]{32}   |glsa_\w{20,}   |sntrys_[\w+/=-]{20,}
      |r8_\w{30,}   |gsk_\w{30,}   |pplx-\w{30,}   |xai-\w{30,}   |tvly-[\w-]{20,}   |AGE-SECRET-KEY-\w{20,}
      |eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?     # JSON web tokens
    )""",
    re.VERBOSE,
)
_IN_ADDRESS = re.compile(r"://(?:[^\s/@\"'`<>]{0,80}:[^\s/\"'`<>]{1,200}|[^\s/@:\"'`<>]{16,200})@(?=[\w.\[{$-])")

_HEADER_NAMES = ("authorization", "x-api", "x-auth", "x-access", "x-goog", "x-amz-security", "cookie", "bearer")
_HEADER = re.compile(
    r"""((?:authorization|x-(?:api|auth|access|goog-api|amz-security)-?(?:key|token))\\{0,3}["']?\s{0,3}[:=]\s{0,3}
        \\{0,3}["']?(?:(?:bearer|basic|token|digest|apikey|aws4-hmac-sha256)\s{1,3})?
        |(?<![a-z])cookie\\{0,3}["']?:\s{0,3}\\{0,3}["']?|(?<![a-z])bearer\s{1,3})
        ([^\s"'\\,;]{8,}(?:;\s?[\w.-]{1,80}=[^\s"'\\;]{1,4000})*)""",
    re.IGNORECASE | re.VERBOSE,
)

_NAME = r"""(?:passw(?:or)?d|passwort|kennwort|passphrase|passcode|pwd|contrase[ñn]a|senha|mot[ _]de[ _]passe|пароль
    |secret(?:[_ -]?(?:access[_ -]?)?key)?|(?:api|access|private|account|auth|encryption|signing|master)[_ -]?key
    |session[_ -]?key|shared[_ -]?access[_ -]?(?:key|signature)|token|credentials?|connection[_ -]?string
    |密码|口令|密鑰|密钥|パスワード|비밀번호)"""
_NAME_STARTS = (
    *("passw", "kennwort", "passphrase", "passcode", "pwd", "contrase", "senha", "mot de passe", "mot_de_passe"),
    *("пароль", "secret", "token", "credential", "api", "access", "private", "account", "auth", "encryption"),
    *("signing", "master", "session", "shared", "connection", "密码", "口令", "密鑰", "密钥", "パスワード", "비밀번호"),
)
_ASSIGNED = re.compile(
    rf"""({_NAME}(?:[_-]?(?:key|value|prod|production|staging|dev|test|default|\d{{1,3}}))?\\{{0,3}}["'`\])]{{0,2}}
        [ \t]{{0,4}}(?::=|=>|==?|[:：])[ \t]{{0,4}})
        (?:(\\{{0,3}}["'`])((?:(?!\2)[^\r\n]){{1,400}}?)(?=\2)|([^\s"'`,;&<>。，]{{3,400}}))""",
    re.IGNORECASE | re.VERBOSE,
)
_SAID = re.compile(
    rf"""((?<![a-z]){_NAME}(?![a-z_-])["'`*]{{0,2}}(?:\s(?:for|of|to|für|de|pour)\s\S{{1,40}}(?:\s\S{{1,40}})?)?
        \s?(?:is|was|ist|lautet|war|es|est|é|это|是|は)[:：]?\s{{0,2}}["'`*]{{0,2}})([^\s"'`*，。]{{5,200}})""",
    re.IGNORECASE | re.VERBOSE,
)
_FLAGGED = re.compile(rf"""({_NAME}[ =]["']?)([^\s"'$<{{(-][^\s"']{{3,400}})""", re.IGNORECASE | re.VERBOSE)
_FLAG = re.compile(r"--(?:[a-z]+-)*$")
_LOGIN = re.compile(r"((?:-u|--user)[ =][\"']?[^\s:\"'$]{1,60}:)[^\s\"'$]{3,}")

_NO_SECRET = frozenset(
    {
        *("none", "null", "nil", "true", "false", "string", "str", "bool", "boolean", "number", "int", "integer"),
        *("text", "password", "token", "secret", "required", "optional", "undefined", "empty", "unset", "missing"),
        *("invalid", "expired", "any", "bytes", "object", "default", "example", "changeme", "redacted", "hidden"),
    }
)
_REFERENCE = re.compile(
    r"[$%<{(\[*…]|\.\.\.|(?<!\w)(?:os|process|env|config|settings|self|this|args|secrets)\.|xxx", re.IGNORECASE
)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z_.]*|[\d.,]{1,8}[a-z%]?")

Replace = Callable[[re.Match[str]], str]


def without_secrets(text: str) -> str:
    """`REDACTED` in place of whatever is shaped, or named, like a secret."""
    text = _replaced(text, text, ("-----BEGIN ",), _KEY_BLOCK, lambda _: REDACTED)
    text = _replaced(text, text, _FORM_STARTS, _FORM, lambda _: REDACTED)
    text = _replaced(text, text, ("://",), _IN_ADDRESS, lambda _: f"://{REDACTED}@")
    text = _replaced(text, text, ("-u ", "--user"), _LOGIN, lambda m: f"{m[1]}{REDACTED}")
    text = _replaced(text, _lowered(text), _HEADER_NAMES, _HEADER, _header)
    for pattern, replace in ((_FLAGGED, _flagged), (_ASSIGNED, _assigned), (_SAID, _said)):
        text = _replaced(text, _lowered(text), _NAME_STARTS, pattern, replace)
    return text


def _replaced(text: str, searched: str, words: Iterable[str], pattern: re.Pattern[str], replace: Replace) -> str:
    """``text`` with ``pattern`` replaced where it matches at one of ``words``, which are found in ``searched``."""
    places = sorted({place for word in words for place in _places(searched, word)})
    parts: list[str] = []
    done = 0
    for place in places:
        found = pattern.match(text, place) if place >= done else None
        if found is not None:
            parts += [text[done:place], replace(found)]
            done = found.end()
    return "".join([*parts, text[done:]]) if parts else text


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _lowered(text: str) -> str:
    """The text in small letters, each character in its place."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _header(found: re.Match[str]) -> str:
    value = found[2]
    if _REFERENCE.search(value) or _PLAIN_NAME.fullmatch(value):
        return found[0]
    return f"{found[1]}{REDACTED}"


def _flagged(found: re.Match[str]) -> str:
    flag = _FLAG.search(found.string[max(0, found.start() - 40) : found.start()])
    return f"{found[1]}{REDACTED}" if flag else found[0]


def _assigned(found: re.Match[str]) -> str:
    quoted, bare = found[3], found[4]
    value = quoted if quoted is not None else bare.rstrip(")].:")
    if _is_placeholder(value) or (quoted is None and _is_code(found, value)):
        return found[0]
    return f"{found[1]}{found[2] or ''}{REDACTED}{'' if quoted is not None else bare[len(value) :]}"


def _is_placeholder(value: str) -> bool:
    return len(value) < 3 or value.casefold() in _NO_SECRET or REDACTED in value or bool(_REFERENCE.search(value))


def _is_code(found: re.Match[str], value: str) -> bool:
    """Whether an unquoted value is a name or a small number, as in ``password=password`` or ``token: 12``.

    In an environment file (``DB_PASSWORD=``), an address (``?token=``) or a connection string it is the secret itself.
    """
    if not _PLAIN_NAME.fullmatch(value):
        return False
    before = found.string[max(0, found.start() - 1) : found.start()]
    tight = "=" in found[1] and not found[1].endswith((" ", "\t"))
    return not (tight and (before in {"?", "&", ";"} or found[1][0].isupper()))


def _said(found: re.Match[str]) -> str:
    value = found[2].rstrip(".,;:!?)")
    telling = any(c.isdigit() or c in "!@#$%^&*~+" for c in value)
    if len(value) < 5 or not telling or _is_placeholder(value):
        return found[0]
    return f"{found[1]}{REDACTED}{found[2][len(value) :]}"
