"""How people of a place write amounts and days: from CLDR, by Babel, once for each; and whose turn it is to read.

A page is drawn in the locale of who reads it: the one of their profile, else the first of ``Accept-Language`` that is
known here. What many read, such as a notification or a mail, is written in ``EVERYBODYS``. The words stay English, and
so do the names of months: where a locale would name a month in its own tongue it is written as a number.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from typing import Any

from babel import Locale as Cldr
from babel.numbers import format_currency, get_currency_symbol

NAMES = {
    "en": "English",
    "en-GB": "English, United Kingdom",
    "en-US": "English, United States",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "de-AT": "German, Austria",
    "de-CH": "German, Switzerland",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "fr-CH": "French, Switzerland",
    "it": "Italian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese, Brazil",
    "pt-PT": "Portuguese, Portugal",
    "sv": "Swedish",
}
"""The locales there are, by the tags that browsers name them with."""
OTHER_TAGS = {"no": "nb", "nn": "nb", "pt-BR": "pt", "it-CH": "de-CH"}
DAYS = {"en": "j M Y", "en-GB": "j M Y", "en-US": "M j, Y"}  # others by CLDR's short form, in full
MONTH_NAMED = {"j M Y": "%-d %b", "M j, Y": "%b %-d"}  # those without their year
LONGEST_HEADER = 500  # characters of Accept-Language that are looked at
NARROW, WIDE = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"

_SAMPLE = re.compile(r"([^0-9]*)1(?P<by>.)234(?P=by)567([.,])50([^0-9]*)")
_PARTS = {"dd": "d", "d": "j", "MM": "m", "M": "n", "yy": "Y", "y": "Y"}  # CLDR's letters → the framework's
_STRFTIME = {"d": "%d", "j": "%-d", "m": "%m", "n": "%-m", "Y": "%Y", "M": "%b"}


@dataclass(frozen=True)
class Locale:
    """``tag`` is "" where nothing is known of the reader."""

    tag: str
    decimal: str  # the sign before the cents
    group: str  # between thousands
    before: bool  # the currency stands before the digits
    gap: str  # what parts it from them in any case
    day: str  # a day, in the letters of the framework's filter

    @property
    def spoken(self) -> str:
        """The tag that says it to Babel, and to a browser."""
        return self.tag or "en"

    @cached_property
    def signs(self) -> dict[int, str]:
        return str.maketrans({",": self.group, ".": self.decimal})

    @cached_property
    def day_pattern(self) -> str:
        return re.sub(r"[A-Za-z]", lambda letter: _STRFTIME[letter[0]], self.day)

    def number(self, size: Decimal | int, decimals: int | None = None) -> str:
        """The digits in groups, with so many decimals or as they are.

        >>> locale("de").number(Decimal("1234567.5"), 2), locale("en").number(20000)
        ('1.234.567,50', '20,000')
        """
        return (f"{size:,}" if decimals is None else f"{size:,.{decimals}f}").translate(self.signs)

    def symbol(self, currency: str) -> str:
        return symbol(self.spoken, currency)

    def priced(self, number: str, currency: str) -> str:
        """A number with its currency, as the locale has them side by side; letters never touch digits."""
        sign = self.symbol(currency)
        if self.before:
            return f"{sign}{self.gap or (NARROW if sign[-1].isalpha() else '')}{number}"
        return f"{number}{self.gap}{sign}"

    def day_of(self, day: date) -> str:
        """31 Dec 2026, Dec 31, 2026 or 31.12.2026."""
        return day.strftime(self.day_pattern)

    def short(self, day: date) -> str:
        """A day of a year that is known: 31 Dec, Dec 31; in full where months are numbers."""
        return f"{day:{MONTH_NAMED[self.day]}}" if self.day in MONTH_NAMED else self.day_of(day)

    def long(self, day: date) -> str:
        """A day in a sentence, its month in full where it is named."""
        return day.strftime(self.day_pattern.replace("%b", "%B"))

    @property
    def example(self) -> str:
        """What the choice means."""
        return f"{self.number(Decimal(10000), 2)} · {self.day_of(date(2026, 12, 31))}"


@cache
def symbol(tag: str, currency: str) -> str:
    """A currency's sign."""
    return get_currency_symbol(currency, locale=Cldr.parse(tag, sep="-"))


@cache
def locale(tag: str) -> Locale:
    """The locale of one of ``NAMES``, as CLDR has it; but thousands are grouped in every one; in some CLDR begins
    at ten thousand."""
    cldr = Cldr.parse(tag, sep="-")
    found = _SAMPLE.fullmatch(format_currency(Decimal("1234567.5"), "EUR", locale=cldr))
    assert found is not None, f"{tag} writes amounts in another way"  # noqa: S101 - of a table of ours
    before, group, decimal, behind = found.groups()
    short = cldr.date_formats["short"].pattern
    return Locale(
        tag=tag,
        decimal=decimal,
        group=group,
        before=bool(before),
        gap=WIDE if (before or behind) != (before or behind).strip() else "",
        day=DAYS.get(tag) or re.sub(r"[dMy]+", lambda part: _PARTS[part[0]], short),
    )


EVERYBODYS = replace(locale("en"), tag="")
"""What is written for nobody in particular, and for a reader of whom nothing is known."""

_CURRENT: ContextVar[Locale] = ContextVar("locale", default=EVERYBODYS)


def current() -> Locale:
    """The locale of who reads the page."""
    return _CURRENT.get()


@contextmanager
def reading_as(locale: Locale) -> Iterator[None]:
    token = _CURRENT.set(locale)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def locale_of(request: Any) -> Locale:
    """The one of the person's profile, else the browser's."""
    chosen = getattr(request.user, "locale", "")
    return locale(chosen) if chosen in NAMES else accepted(request.headers.get("Accept-Language", ""))


@lru_cache(maxsize=1 << 10)
def accepted(header: str) -> Locale:
    """The first that we know of a browser's languages, in the order of its preference.

    >>> accepted("de-LI,de;q=0.9,en;q=0.8").tag, accepted("xx, en-AU;q=0.4, fr;q=0.5").tag, accepted("").tag
    ('de', 'fr', '')
    """
    wanted = []
    for part in header[:LONGEST_HEADER].split(","):
        tag, _, weight = part.partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if 0 < quality <= 1:
            wanted.append((-quality, tag.strip()))
    for _, tag in sorted(wanted, key=lambda each: each[0]):
        if found := known(tag):
            return found
    return EVERYBODYS


def known(tag: str) -> Locale | None:
    """The locale of a tag, or of its language."""
    language, _, place = tag.partition("-")
    whole = f"{language.lower()}-{place.upper()}" if place else language.lower()
    names = (OTHER_TAGS.get(each, each) for each in (whole, language.lower()))
    return next((locale(name) for name in names if name in NAMES), None)
