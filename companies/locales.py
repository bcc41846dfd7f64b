"""Locales: formats of amounts and dates (CLDR, by Babel), and the locale of the current request.

Pages use the locale of the user's profile, otherwise of ``Accept-Language``. Texts for several users use
``DEFAULT_LOCALE``. Pages are translated into ``LANGUAGES``; in other locales text is English and months
are numbers.
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

LOCALE_NAMES = {
    "en": _("English"),
    "en-GB": _("English (United Kingdom)"),
    "en-US": _("English (United States)"),
    "cs": _("Czech"),
    "da": _("Danish"),
    "de": _("German"),
    "de-AT": _("German (Austria)"),
    "de-CH": _("German (Switzerland)"),
    "es": _("Spanish"),
    "fi": _("Finnish"),
    "fr": _("French"),
    "fr-CH": _("French (Switzerland)"),
    "it": _("Italian"),
    "nb": _("Norwegian"),
    "nl": _("Dutch"),
    "pl": _("Polish"),
    "pt": _("Portuguese (Brazil)"),
    "pt-PT": _("Portuguese (Portugal)"),
    "sv": _("Swedish"),
}
"""The locales there are, by the tags that browsers name them with."""
LANGUAGES = ("de",)
"""Into which the pages are translated: see ``locale``."""
TAG_ALIASES = {"no": "nb", "nn": "nb", "pt-BR": "pt", "it-CH": "de-CH"}
DAY_FORMATS = {"en": "j M Y", "en-GB": "j M Y", "en-US": "M j, Y"}  # others use CLDR's short format with the full year
SHORT_DAY_FORMATS = {"j M Y": "%-d %b", "M j, Y": "%b %-d"}  # without the year
DAY_CACHE_SIZE = 10_000  # number of formatted dates in the cache
MAX_HEADER_LENGTH = 500  # characters of Accept-Language that are parsed
NARROW_SPACE, WIDE_SPACE = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"

_YEAR = re.compile(r"^[0-9]{4}[^0-9]{0,3}|[^0-9.]{0,2}[0-9]{4}\W{0,3}$")
_SAMPLE = re.compile(r"([^0-9]*)1(?P<by>.)234(?P=by)567([.,])50([^0-9]*)")
_PARTS = {"dd": "d", "d": "j", "MM": "m", "M": "n", "yy": "Y", "y": "Y"}  # CLDR's letters → Django's
_STRFTIME = {"d": "%d", "j": "%-d", "m": "%m", "n": "%-m", "Y": "%Y", "M": "%b"}


@dataclass(frozen=True)
class Locale:
    """Formats of one locale; ``tag`` is "" for an unknown user."""

    tag: str
    decimal: str  # decimal separator
    group: str  # group separator
    is_symbol_first: bool  # whether the currency stands before the number
    symbol_gap: str  # space between them
    day_format: str  # date format in Django's letters

    @property
    def language_tag(self) -> str:
        """The language tag for Babel and browsers."""
        return self.tag or "en"

    @property
    def language(self) -> str:
        """Language of the pages."""
        language = self.tag.partition("-")[0]
        return language if language in LANGUAGES else "en"

    def localize_digits(self, digits: str) -> str:
        """Replace the separators of digits such as 1,234.50 with the locale's; str.translate takes four times as
        long.
        """
        if self.group == "," and self.decimal == ".":
            return digits
        return digits.replace(",", "\0").replace(".", self.decimal).replace("\0", self.group)

    @cached_property
    def day_pattern(self) -> str:
        return re.sub(r"[A-Za-z]", lambda letter: _STRFTIME[letter[0]], self.day_format)

    def format_number(self, size: Decimal | int, decimals: int | None = None) -> str:
        """Format a number with grouped digits, with a fixed number of decimals or as it is.

        >>> get_locale("de").format_number(Decimal("1234567.5"), 2), get_locale("en").format_number(20000)
        ('1.234.567,50', '20,000')
        """
        return self.localize_digits(f"{size:,}" if decimals is None else f"{size:,.{decimals}f}")

    def get_symbol(self, currency: str) -> str:
        return find_currency_symbol(self.language_tag, currency)

    def format_price(self, number: str, currency: str) -> str:
        """Format a number with its currency symbol; letters never touch digits."""
        currency_sign = self.get_symbol(currency)
        if self.is_symbol_first:
            return f"{currency_sign}{self.symbol_gap or (NARROW_SPACE if currency_sign[-1].isalpha() else '')}{number}"
        return f"{number}{self.symbol_gap}{currency_sign}"

    def format_day(self, day: date) -> str:
        """Format a date: 31 Dec 2026, Dec 31, 2026 or 31.12.2026."""
        return format_ordinal_day(day.toordinal(), self.day_pattern)

    def format_short_day(self, day: date) -> str:
        """Format a date of a known year: 31 Dec, Dec 31; in full where months are numbers."""
        return (
            f"{day:{SHORT_DAY_FORMATS[self.day_format]}}"
            if self.day_format in SHORT_DAY_FORMATS
            else self.format_day(day)
        )

    def format_day_without_year(self, day: date) -> str:
        """Format a date of a known year where space is short: 31 Dec, 31.12., 12/31."""
        if self.day_format in SHORT_DAY_FORMATS:
            return self.format_short_day(day)
        return _YEAR.sub("", self.format_day(day))

    def format_long_day(self, day: date) -> str:
        """Format a date for a sentence, with the full name of the month."""
        return day.strftime(self.day_pattern.replace("%b", "%B"))

    def format_month(self, day: date, *, full: bool = False, year: bool = True) -> str:
        """Format the month of a date, in the language of the page.

        >>> day, english = date(2026, 3, 1), get_locale("en")
        >>> english.format_month(day), english.format_month(day, full=True)
        ('Mar 2026', 'March 2026')
        >>> get_locale("de").format_month(day, year=False)
        'Mär'
        """
        name = get_month_names(self.language, full=full)[day.month]
        return f"{name} {day:%Y}" if year else name

    @property
    def example(self) -> str:
        """Example shown with the choice of a locale."""
        return f"{self.format_number(Decimal(10000), 2)} · {self.format_day(date(2026, 12, 31))}"


@lru_cache(DAY_CACHE_SIZE)
def format_ordinal_day(number: int, pattern: str) -> str:
    """Format the date with this ordinal. Cached, because strftime is slow and pages repeat the same dates."""
    return date.fromordinal(number).strftime(pattern)


@cache
def get_month_names(language: str, *, full: bool) -> dict[int, str]:
    """Return the names of the months by number, in their stand-alone form."""
    names = Cldr.parse(language).months["stand-alone"]["wide" if full else "abbreviated"]
    return {number: str(name) for number, name in names.items()}


@cache
def find_currency_symbol(tag: str, currency: str) -> str:
    """Return the symbol of a currency."""
    return get_currency_symbol(currency, locale=Cldr.parse(tag, sep="-"))


@cache
def get_locale(tag: str) -> Locale:
    """Return one of the locales in ``LOCALE_NAMES``. Thousands are always grouped, unlike in CLDR, where some
    start at 10,000.
    """
    cldr = Cldr.parse(tag, sep="-")
    sample_match = _SAMPLE.fullmatch(format_currency(Decimal("1234567.5"), "EUR", locale=cldr))
    assert sample_match is not None, f"{tag} writes amounts in another way"  # noqa: S101 - of a table of ours
    prefix, group, decimal, suffix = sample_match.groups()
    short_pattern = cldr.date_formats["short"].pattern
    return Locale(
        tag=tag,
        decimal=decimal,
        group=group,
        is_symbol_first=bool(prefix),
        symbol_gap=WIDE_SPACE if (prefix or suffix) != (prefix or suffix).strip() else "",
        day_format=DAY_FORMATS.get(tag) or re.sub(r"[dMy]+", lambda part: _PARTS[part[0]], short_pattern),
    )


DEFAULT_LOCALE = replace(get_locale("en"), tag="")
"""What is written for nobody in particular, and for a reader of whom nothing is known."""

_CURRENT: ContextVar[Locale] = ContextVar("locale", default=DEFAULT_LOCALE)


def get_current_locale() -> Locale:
    """Return the locale of the current request."""
    return _CURRENT.get()


@contextmanager
def use_locale(locale: Locale) -> Iterator[None]:
    """Use a locale and its language within the context."""
    token = _CURRENT.set(locale)
    try:
        with translation.override(locale.language):
            yield
    finally:
        _CURRENT.reset(token)


def get_request_locale(request: Any) -> Locale:
    """Return the locale of a request: of the user's profile, otherwise of the browser."""
    profile_tag = getattr(request.user, "locale", "")
    return (
        get_locale(profile_tag)
        if profile_tag in LOCALE_NAMES
        else parse_accept_language(request.headers.get("Accept-Language", ""))
    )


def get_user_locale(user: Any) -> Locale:
    """Return the locale for an e-mail to a user: of their profile, otherwise the default."""
    return get_locale(user.locale) if user.locale in LOCALE_NAMES else DEFAULT_LOCALE


@lru_cache(maxsize=1 << 10)
def parse_accept_language(header: str) -> Locale:
    """Return the first supported locale of an Accept-Language header, by preference.

    >>> parse_accept_language("de-LI,de;q=0.9,en;q=0.8").tag, parse_accept_language("").tag
    ('de', '')
    >>> parse_accept_language("xx, en-AU;q=0.4, fr;q=0.5").tag
    'fr'
    """
    weighted_tags = []
    for part in header[:MAX_HEADER_LENGTH].split(","):
        tag, _, weight = part.partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if 0 < quality <= 1:
            weighted_tags.append((-quality, tag.strip()))
    for _, tag in sorted(weighted_tags, key=lambda each: each[0]):
        if match := find_locale(tag):
            return match
    return DEFAULT_LOCALE


def find_locale(tag: str) -> Locale | None:
    """Return the locale of a tag, or of its language; None if not supported."""
    language, _, region = tag.partition("-")
    full_tag = f"{language.lower()}-{region.upper()}" if region else language.lower()
    names = (TAG_ALIASES.get(each, each) for each in (full_tag, language.lower()))
    return next((get_locale(name) for name in names if name in LOCALE_NAMES), None)
