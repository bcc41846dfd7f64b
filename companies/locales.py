"""How people of a place write amounts and days: from CLDR, by Babel, once for each; and whose turn it is to read.

A page is drawn in the locale of who reads it: the one of their profile, else the first of ``Accept-Language`` that is
known here. What many read, such as a notification, is written in ``EVERYBODYS``. The words are those of ``LANGUAGES``,
else English, and so are the names of months: in a day of the other locales months are numbers.
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
from django.utils import translation
from django.utils.translation import gettext_lazy as _

NAMES = {
    "en": _("English"),
    "en-GB": _("English, United Kingdom"),
    "en-US": _("English, United States"),
    "cs": _("Czech"),
    "da": _("Danish"),
    "de": _("German"),
    "de-AT": _("German, Austria"),
    "de-CH": _("German, Switzerland"),
    "es": _("Spanish"),
    "fi": _("Finnish"),
    "fr": _("French"),
    "fr-CH": _("French, Switzerland"),
    "it": _("Italian"),
    "nb": _("Norwegian"),
    "nl": _("Dutch"),
    "pl": _("Polish"),
    "pt": _("Portuguese, Brazil"),
    "pt-PT": _("Portuguese, Portugal"),
    "sv": _("Swedish"),
}
"""The locales there are, by the tags that browsers name them with."""
LANGUAGES = ("de",)
"""Into which the pages are translated: see ``locale``."""
OTHER_TAGS = {"no": "nb", "nn": "nb", "pt-BR": "pt", "it-CH": "de-CH"}
DAYS = {"en": "j M Y", "en-GB": "j M Y", "en-US": "M j, Y"}  # others by CLDR's short form, in full
MONTH_NAMED = {"j M Y": "%-d %b", "M j, Y": "%b %-d"}  # those without their year
MOST_DAYS = 10_000  # that are remembered as they are written
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

    @property
    def language(self) -> str:
        """In which pages speak to the reader."""
        language = self.tag.partition("-")[0]
        return language if language in LANGUAGES else "en"

    def written(self, digits: str) -> str:
        """Digits like 1,234.50 with the locale's signs between them; str.translate takes four times as long."""
        if self.group == "," and self.decimal == ".":
            return digits
        return digits.replace(",", "\0").replace(".", self.decimal).replace("\0", self.group)

    @cached_property
    def day_pattern(self) -> str:
        return re.sub(r"[A-Za-z]", lambda letter: _STRFTIME[letter[0]], self.day)

    def number(self, size: Decimal | int, decimals: int | None = None) -> str:
        """The digits in groups, with so many decimals or as they are.

        >>> locale("de").number(Decimal("1234567.5"), 2), locale("en").number(20000)
        ('1.234.567,50', '20,000')
        """
        return self.written(f"{size:,}" if decimals is None else f"{size:,.{decimals}f}")

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
        return written_day(day.toordinal(), self.day_pattern)

    def short(self, day: date) -> str:
        """A day of a year that is known: 31 Dec, Dec 31; in full where months are numbers."""
        return f"{day:{MONTH_NAMED[self.day]}}" if self.day in MONTH_NAMED else self.day_of(day)

    def long(self, day: date) -> str:
        """A day in a sentence, its month in full where it is named."""
        return day.strftime(self.day_pattern.replace("%b", "%B"))

    def month(self, day: date, *, full: bool = False, year: bool = True) -> str:
        """The month of a day, in the language of the page.

        >>> day = date(2026, 3, 1)
        >>> locale("en").month(day), locale("en").month(day, full=True), locale("de").month(day, year=False)
        ('Mar 2026', 'March 2026', 'Mär')
        """
        name = month_names(self.language, full=full)[day.month]
        return f"{name} {day:%Y}" if year else name

    @property
    def example(self) -> str:
        """What the choice means."""
        return f"{self.number(Decimal(10000), 2)} · {self.day_of(date(2026, 12, 31))}"


@lru_cache(MOST_DAYS)
def written_day(number: int, pattern: str) -> str:
    """The day with a number. A page of days writes hundreds, the same as the page before: strftime is slow."""
    return date.fromordinal(number).strftime(pattern)


@cache
def month_names(language: str, *, full: bool) -> dict[int, str]:
    """By their numbers, as they stand alone."""
    names = Cldr.parse(language).months["stand-alone"]["wide" if full else "abbreviated"]
    return {number: str(name) for number, name in names.items()}


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
        with translation.override(locale.language):
            yield
    finally:
        _CURRENT.reset(token)


def locale_of(request: Any) -> Locale:
    """The one of the person's profile, else the browser's."""
    chosen = getattr(request.user, "locale", "")
    return locale(chosen) if chosen in NAMES else accepted(request.headers.get("Accept-Language", ""))


def locale_of_person(user: Any) -> Locale:
    """In which a mail is written to one person: the one of their profile, else everybody's."""
    return locale(user.locale) if user.locale in NAMES else EVERYBODYS


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
