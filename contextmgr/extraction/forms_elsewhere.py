"""The same in German, French and Spanish: names, addresses, tools in use, standing wishes."""

from __future__ import annotations

from contextmgr.extraction.forms import Form, form
from contextmgr.facts import FactKind

_LEAD = (
    r"^(?:(?P<takes_back>nein|non|no|doch|sorry|entschuldigung|pardon|perdón|korrektur)[,.:!]\s+"
    r"|(?:hallo|guten\ tag|ja|also|übrigens|und|bonjour|salut|oui|et|au\ fait|hola"
    r"|sí|y|por\ cierto|ok|okay)[,.:!]?\s+)*+"
)
_DE = {
    "name": "name",
    "vorname": "first name",
    "adresse": "address",
    "lieferadresse": "shipping address",
    "rechnungsadresse": "billing address",
    "telefonnummer": "phone number",
    "handynummer": "phone number",
    "bestellnummer": "order number",
    "kundennummer": "customer number",
    "geburtstag": "birthday",
    "e-mail": "email",
    "e-mail-adresse": "email address",
    "arbeitgeber": "employer",
    "firma": "company",
    "budget": "budget",
    "deadline": "deadline",
    "frist": "deadline",
    "abgabetermin": "deadline",
    "liefertermin": "delivery date",
    "datenbank": "database",
    "server": "server",
    "projektname": "project name",
    "zeitzone": "time zone",
}
_FR = {
    "nom": "name",
    "prénom": "first name",
    "adresse": "address",
    "adresse de livraison": "shipping address",
    "numéro de téléphone": "phone number",
    "numéro de commande": "order number",
    "date de naissance": "birthday",
    "adresse e-mail": "email address",
    "e-mail": "email",
    "entreprise": "company",
    "budget": "budget",
    "date limite": "deadline",
    "échéance": "deadline",
    "base de données": "database",
}
_ES = {
    "nombre": "name",
    "dirección": "address",
    "dirección de envío": "shipping address",
    "correo": "email",
    "número de teléfono": "phone number",
    "teléfono": "phone number",
    "número de pedido": "order number",
    "cumpleaños": "birthday",
    "empresa": "company",
    "presupuesto": "budget",
    "fecha límite": "deadline",
    "base de datos": "database",
}


def _any(names: dict[str, str]) -> str:
    return "|".join(name.replace(" ", r"\ ") for name in sorted(names, key=len, reverse=True))


_NAME = r"(?P<value>(?-i:[A-ZÀ-ÖØ-Þ])[\w'’.-]+(?:\ (?-i:[A-ZÀ-ÖØ-Þ])[\w'’.-]+){0,2})[.!]*$"
_TOOL = r"(?P<value>(?-i:[A-Z][\w.+#-]*)(?:\ [^,;]*)?)$"

FORMS_ELSEWHERE: tuple[Form, ...] = (
    Form(
        pattern=form(
            rf"{_LEAD}(?:mein|meine|unser|unsere|die|der|das)\ (?:neue[rs]?\ |aktuelle[rs]?\ )?(?P<key>{_any(_DE)})"
            r"\ (?:ist|lautet)(?:\ jetzt|\ nun)?(?:\ der|\ am)?\s+(?P<value>.+)$"
        ),
        names=_DE,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:mon|ma|notre|la|l['’])\ ?(?:nouvelle\ |nouveau\ )?(?P<key>{_any(_FR)})\ est(?:\ maintenant)?"
            r"(?:\ le)?\s+(?P<value>.+)$"
        ),
        names=_FR,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:mi|nuestra|nuestro|la|el)\ (?:nueva\ "
            rf"|nuevo\ )?(?P<key>{_any(_ES)})\ es(?:\ ahora)?(?:\ el)?\s+"
            r"(?P<value>.+)$"
        ),
        names=_ES,
    ),
    Form(
        pattern=form(rf"{_LEAD}(?:ich\ heiße|nenn\ mich(?:\ bitte)?|je\ m['’]appelle|me\ llamo|llámame)\ {_NAME}"),
        name="name",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:ich\ wohne\ (?:jetzt\ )?in|j['’]habite\ (?:à|en|au)|vivo\ en)\ (?P<value>(?-i:[A-ZÀ-ÖØ-Þ]).+)$"
        ),
        name="home",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:wir\ (?:verwenden|nutzen|benutzen)|nous\ utilisons|on\ utilise|usamos|utilizamos)\ {_TOOL}"
        ),
        prefix="uses ",
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?:ich\ bin|je\ suis|soy)\ (?:allergisch\ gegen|allergique\ (?:à|aux|au)|alérgic[oa]\ a(?:l)?)\ "
            r"(?P<value>\w+(?:\ \w+){0,3})[.!]*$"
        ),
        prefix="allergy ",
        telling=False,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?P<value>(?:bitte\ )?(?:ab\ (?:jetzt|sofort)|künftig|in\ zukunft|à\ partir\ de\ maintenant"
            rf"|désormais"
            r"|a\ partir\ de\ ahora|de\ ahora\ en\ adelante),?\ .+)$"
        ),
        kind=FactKind.PREFERENCE,
        prefix="rule ",
        telling=False,
        whole=True,
    ),
    Form(
        pattern=form(
            rf"{_LEAD}(?P<value>(?:(?:antworte|schreib|verwende|nutze|benutze)\ (?:mir\ )?(?:bitte\ )?(?:immer|nie"
            rf"|niemals|stets|nur)"
            r"|(?:réponds|répondez|utilise|utilisez)\ (?:moi\ )?(?:toujours|uniquement)|(?:responde|usa"
            r"|utiliza)\ siempre)\ .+)$"
        ),
        kind=FactKind.PREFERENCE,
        prefix="rule ",
        telling=False,
        whole=True,
    ),
)
