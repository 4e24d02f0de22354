"""The connector `faker`: the columns of a table and their values, from the same expressions as flink-faker.

`'fields.name.expression' = '#{Name.fullName}'` is text in which each `#{...}` is replaced by a random value of
Datafaker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.node import Field
from tvfsql.plan.synthetic.tables import PER_SECOND, START
from tvfsql.plan.tables.options import TableOptions
from tvfsql.plan.values.types import SqlType

UNIT_MS = {"milliseconds": 1, "seconds": 1_000, "minutes": 60_000, "hours": 3_600_000, "days": 86_400_000}
YEAR_MS = 31_557_600_000
# Maps Datafaker's names, in lower case and without underscores, to those of the Python library Faker.
METHODS = {
    "address": {
        "city": "city", "cityname": "city", "country": "country", "countrycode": "country_code",
        "fulladdress": "address", "latitude": "latitude", "longitude": "longitude", "postcode": "postcode",
        "state": "state", "stateabbr": "state_abbr", "streetaddress": "street_address", "streetname": "street_name",
        "timezone": "timezone", "zipcode": "postcode",
    },
    "color": {"hex": "hex_color", "name": "color_name"},
    "commerce": {
        "brand": "company", "department": "job", "material": "word", "productname": "catch_phrase", "vendor": "company",
    },
    "company": {
        "bs": "bs", "buzzword": "bs", "catchphrase": "catch_phrase", "industry": "bs", "name": "company",
        "suffix": "company_suffix", "url": "url",
    },
    "crypto": {"md5": "md5", "sha1": "sha1", "sha256": "sha256"},
    "currency": {"code": "currency_code", "name": "currency_name"},
    "file": {"extension": "file_extension", "filename": "file_name", "mimetype": "mime_type"},
    "finance": {"bic": "swift", "creditcard": "credit_card_number", "iban": "iban"},
    "internet": {
        "domainname": "domain_name", "email": "email", "emailaddress": "email", "ipv4address": "ipv4",
        "ipv6address": "ipv6", "macaddress": "mac_address", "password": "password",
        "privateipv4address": "ipv4_private",
        "publicipv4address": "ipv4_public", "safeemailaddress": "safe_email", "slug": "slug", "url": "url",
        "useragent": "user_agent", "useragentany": "user_agent", "username": "user_name",
    },
    "job": {"field": "job", "position": "job", "title": "job"},
    "lorem": {"paragraph": "paragraph", "sentence": "sentence", "word": "word"},
    "name": {
        "firstname": "first_name", "fullname": "name", "lastname": "last_name", "name": "name",
        "namewithmiddle": "name", "prefix": "prefix", "suffix": "suffix", "title": "job", "username": "user_name",
    },
    "phonenumber": {"cellphone": "phone_number", "phonenumber": "phone_number"},
}  # fmt: skip
# Faker has no names from books, films or food: names of people, places and plain words replace them.
STORIES = frozenset(
    "animal artist beer book coffee drwho food funnyname gameofthrones greekphilosopher harrypotter "
    "hitchhikersguidetothegalaxy hobbit lordoftherings pokemon rickandmorty rockband space starcraft startrek starwars "
    "superhero team".split()
)
PEOPLE = ("artist", "author", "character", "name", "thedoctor")
PLACES = ("house", "location", "planet", "star")
NAMES = {"options.option", "bool.bool", "internet.uuid", "lorem.characters", "regexify", "numerify", "letterify",
         "bothify", "date.past", "date.future", "date.birthday", "number.numberBetween", "number.randomDouble",
         "number.randomDigit", "number.randomDigitNotZero", "number.randomNumber", "number.digits"}  # fmt: skip


@dataclass(frozen=True)
class Between:
    """Integers from `low` up to, but not including, `high`."""

    low: int
    high: int


@dataclass(frozen=True)
class Rounded:
    """Numbers from `low` to `high`, rounded to `digits` decimal places."""

    digits: int
    low: float
    high: float


@dataclass(frozen=True)
class Moment:
    """Times that lie `least` to `most` ms after the time of the row."""

    least: int
    most: int


@dataclass(frozen=True)
class Uuid:
    pass


@dataclass(frozen=True)
class Pattern:
    """Text that matches a regular expression."""

    regex: str


@dataclass(frozen=True)
class Method:
    """The result of a method of the library."""

    name: str


Error = Callable[[str, str | None], BindError]  # makes an error about an expression from a problem and a hint
Part = str | Between | Rounded | Moment | Uuid | Pattern | Method


@dataclass(frozen=True)
class Made:
    """A column: its value is the concatenation of `parts`, or NULL in a share (`null_rate`) of the rows."""

    name: str
    type: SqlType
    parts: tuple[Part, ...]
    null_rate: float


def start_of(options: TableOptions) -> int:
    """The time of the first row, in epoch ms."""
    return options.time("start-time", START)


def rate_of(options: TableOptions) -> int:
    """The number of rows per second of event time."""
    return options.whole("rows-per-second", PER_SECOND, least=1)


def columns_of(
    options: TableOptions, fields: Sequence[Field], places: Mapping[str, Span] | None = None
) -> tuple[Made, ...]:
    """Return the columns of a table. `places` are the spans of the column names. Raises BindError."""
    made = []
    for field in fields:
        key = f"fields.{field.name}"
        if field.type.parts:
            span = (places or {}).get(field.name)
            raise BindError(f"faker cannot generate values of type {field.type.flink}", span=span, hint="STRING")
        rate = options.number(f"{key}.null-rate", Decimal(0))
        if not 0 <= rate <= 1:
            raise options.error(f"{key}.null-rate", "must be from 0 to 1", f"'{key}.null-rate' = '0.1'")
        text = options.text(f"{key}.expression", example="#{Name.fullName}")
        parts = tuple(_parts(text, partial(options.error, f"{key}.expression")))
        made.append(Made(field.name, field.type, parts, float(rate)))
    return tuple(made)


def stories_in(made: Sequence[Made], options: TableOptions) -> tuple[str, ...]:
    """The expressions of columns whose texts the library does not have."""
    texts = (options.text(f"fields.{column.name}.expression") for column in made)
    return tuple(
        found[1]
        for text in texts
        for found in re.finditer(r"#\{\s*(\w+\.\w+)", text)
        if _plain(found[1]).partition(".")[0] in STORIES
    )


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _parts(text: str, error: Error) -> Iterator[Part]:
    """Split an expression into its parts."""
    at = 0
    while (start := text.find("#{", at)) >= 0:
        if start > at:
            yield text[at:start]
        end = _closing(text, start + 2)
        if end is None:
            raise error("has a #{ that is not closed", None)
        yield _part(text[start + 2 : end].strip(), error)
        at = end + 1
    if at < len(text) or not text:
        yield text[at:]


def _closing(text: str, at: int) -> int | None:
    """The position of the } that closes a #{, skipping quoted text; None if there is none."""
    quoted = False
    for i in range(at, len(text)):
        quoted ^= text[i] == "'"
        if text[i] == "}" and not quoted:
            return i
    return None


def _part(call: str, error: Error) -> Part:
    """Parse `Provider.method 'argument', ...`."""
    named = re.match(r"[\w.]+", call)
    name = _plain(named[0]) if named else ""
    given = re.findall(r"'([^']*)'", call)
    try:
        made = _made(name, given)
    except (ValueError, IndexError, KeyError, re.error):
        raise error(f"has invalid arguments for {named[0] if named else call}", None) from None
    if made is None:
        known = [*NAMES, *(f"{provider}.{method}" for provider, methods in METHODS.items() for method in methods)]
        hint = did_you_mean(named[0] if named else call, known, otherwise="known: ")
        raise error(f"has {named[0] if named else call}, which is not supported", hint)
    return made


def _made(name: str, given: list[str]) -> Part | None:
    provider, _, method = name.partition(".")
    match name:
        case "regexify":
            re.compile(given[0])
            return Pattern(given[0])
        case "numerify" | "letterify" | "bothify":
            return Pattern(_of_template(given[0], name))
        case "options.option":
            return Pattern("|".join(map(re.escape, given)))
        case "bool.bool":
            return Pattern("true|false")
        case "internet.uuid":
            return Uuid()
        case "lorem.characters":
            return Pattern(f"[a-z0-9]{{{int(given[0]) if given else 255}}}")
        case "number.numberbetween":
            low, high = int(given[0]), int(given[1])
            return Between(low, max(high, low + 1))
        case "number.randomdigit":
            return Between(0, 10)
        case "number.randomdigitnotzero":
            return Between(1, 10)
        case "number.randomnumber":
            return Between(0, 10 ** int(given[0]) if given else 10**9)
        case "number.digits" | "number.digit":
            return Pattern(f"[0-9]{{{int(given[0]) if given else 1}}}")
        case "number.randomdouble":
            return Rounded(int(given[0]), float(given[1]), float(given[2]))
        case "date.past" | "date.future":
            *numbers, unit = given
            most, least = (int(number) * UNIT_MS[unit.lower()] for number in [*numbers, "0"][:2])
            return Moment(-most, -least) if method == "past" else Moment(least, most)
        case "date.birthday":
            least, most = (int(each) for each in given or ("18", "65"))
            return Moment(-most * YEAR_MS, -least * YEAR_MS)
    if provider in STORIES:
        alike = method.removesuffix("s")
        return Method("name" if alike in PEOPLE else "city" if alike in PLACES else "word")
    found = METHODS.get(provider, {}).get(method)
    return Method(found) if found else None


def _of_template(template: str, kind: str) -> str:
    """Turn a template such as `user_##` or `??` into a regular expression."""
    digits, letters = kind != "letterify", kind != "numerify"
    marks = {"#": "[0-9]" if digits else "#", "?": "[a-z]" if letters else r"\?"}
    return "".join(marks.get(char, re.escape(char)) for char in template)
