"""Currencies as banks write them: codes, numbers of ISO 4217, signs, local abbreviations and names."""

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import cache, lru_cache

from babel.core import get_global

from ledger.calc.text_normalization import strip_accents
from ledger.imports.calc.locale_names import load_locale_names
from ledger.money.calc.money import CURRENCIES, get_minor_units

LONGEST_NAME = 40  # characters
DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN")
KRONER = ("SEK", "NOK", "DKK", "ISK")
YEN = ("JPY", "CNY")
_OTHER_SIGNS = {
    "$": DOLLARS, "us$": ("USD",), "c$": ("CAD",), "ca$": ("CAD",), "cad$": ("CAD",), "usd$": ("USD",), "mx$": ("MXN",),
    "a$": ("AUD",), "au$": ("AUD",), "nz$": ("NZD",), "hk$": ("HKD",), "s$": ("SGD",), "sg$": ("SGD",), "r$": ("BRL",),
    "£": ("GBP",), "€": ("EUR",), "¥": YEN, "￥": YEN, "cn¥": ("CNY",), "元": ("CNY",), "円": ("JPY",), "kr": KRONER,
    "fr": ("CHF",), "sfr": ("CHF",), "ft": ("HUF",), "zl": ("PLN",), "kc": ("CZK",), "lei": ("RON",), "rs": ("INR",),
    "r": ("ZAR",), "rm": ("MYR",), "rp": ("IDR",), "руб": ("RUB",), "р": ("RUB",), "грн": ("UAH",), "tl": ("TRY",),
    "лв": ("BGN",), "nis": ("ILS",), "euro": ("EUR",), "euros": ("EUR",),
}  # fmt: skip
_ONLY_IN_CELLS = {"r", "р"}  # letters that mean much else in a heading
_NUMBERS = {
    "978": "EUR", "036": "AUD", "986": "BRL", "124": "CAD", "756": "CHF", "156": "CNY", "203": "CZK", "208": "DKK",
    "826": "GBP", "344": "HKD", "348": "HUF", "360": "IDR", "376": "ILS", "356": "INR", "352": "ISK", "392": "JPY",
    "410": "KRW", "484": "MXN", "458": "MYR", "578": "NOK", "554": "NZD", "608": "PHP", "985": "PLN", "946": "RON",
    "752": "SEK", "702": "SGD", "764": "THB", "949": "TRY", "840": "USD", "710": "ZAR", "643": "RUB", "980": "UAH",
    "975": "BGN",
}  # fmt: skip
_SHORT_NAMES = {
    "dollar": DOLLARS, "dollars": DOLLARS, "pound": ("GBP",), "pounds": ("GBP",), "sterling": ("GBP",),
    "krona": ("SEK", "ISK"), "kronor": ("SEK",), "krone": ("NOK", "DKK"), "kroner": ("NOK", "DKK"), "yen": ("JPY",),
    "yuan": ("CNY",), "rmb": ("CNY",), "renminbi": ("CNY",), "人民币": ("CNY",), "人民幣": ("CNY",), "美元": ("USD",),
    "欧元": ("EUR",), "日元": ("JPY",), "日本円": ("JPY",), "米ドル": ("USD",), "ドル": ("USD",), "ユーロ": ("EUR",),
    "franken": ("CHF",), "forint": ("HUF",), "złoty": ("PLN",), "zloty": ("PLN",), "koruna": ("CZK",),
    "rupee": ("INR",), "rupees": ("INR",), "рубль": ("RUB",), "рубли": ("RUB",), "рублях": ("RUB",), "рублей": ("RUB",),
    "euroa": ("EUR",), "евро": ("EUR",), "доллар": ("USD",), "lira": ("TRY",),
}  # fmt: skip
_TOKEN = re.compile(r"[^\W\d_]{0,3}[$€£¥￥₩₪₹฿₺₱₽₴₫₦₸₼₾]|[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = re.compile(r"[^\W\d_]+")


@cache
def get_currency_codes() -> frozenset[str]:
    """The currencies of ISO 4217, by code."""
    return frozenset(get_global("all_currencies"))


@cache
def get_currency_signs() -> dict[str, tuple[str, ...]]:
    """Signs and local abbreviations, in small letters, and the currencies that each may mean."""
    return {sign: (code,) for sign, code in load_locale_names()["currencySigns"].items()} | _OTHER_SIGNS


@cache
def get_currency_names() -> dict[str, tuple[str, ...]]:
    """Names in the languages of the headings, folded, and the currencies of the ledger that each means."""
    return {name: tuple(codes) for name, codes in load_locale_names()["currencyNames"].items()} | _SHORT_NAMES


def fold_currency_name(text: str) -> str:
    """A name as it is compared: words in small letters without accents.

    >>> fold_currency_name("US-Dollar"), fold_currency_name("Złoty")
    ('us dollar', 'złoty')
    """
    return " ".join(_WORDS.findall(strip_accents(text.casefold())))


@lru_cache(maxsize=4096)
def find_currencies(word: str) -> tuple[str, ...]:
    """The currencies that a code or a sign may mean, the most usual first; none for other words.

    >>> find_currencies("GBP"), find_currencies("zł"), find_currencies("kr")[:2], find_currencies("VWZ")
    (('GBP',), ('PLN',), ('SEK', 'NOK'), ())
    """
    code = word.upper()
    if code in get_currency_codes():
        return (code,)
    return get_currency_signs().get(word.casefold().rstrip("."), ())


@lru_cache(maxsize=4096)
def find_named_currencies(text: str) -> tuple[str, ...]:
    """The currencies that a cell of a column of currencies may mean: a code, its number, a sign or a name.

    >>> find_named_currencies("840"), find_named_currencies("US Dollar"), find_named_currencies("n/a")
    (('USD',), ('USD',), ())
    """
    if currencies := find_currencies(text):
        return currencies
    if text.isdigit():
        code = _NUMBERS.get(text.zfill(3))
        return (code,) if code else ()
    return get_currency_names().get(fold_currency_name(text), ()) if len(text) <= LONGEST_NAME else ()


def is_currency_code(text: str) -> bool:
    """Whether a cell is a code in capitals, or a sign that is no letter: what stands in a column of its own.

    >>> is_currency_code("EUR"), is_currency_code("€"), is_currency_code("Fr"), is_currency_code("all")
    (True, True, False, False)
    """
    return text in get_currency_codes() or (bool(text) and not text[-1].isalnum() and bool(find_currencies(text)))


@lru_cache(maxsize=4096)
def find_heading_currencies(heading: str) -> tuple[str, ...]:
    """The currencies that a heading may name beside another word, such as EUR of "Amount (EUR)"; none for others.

    >>> [find_heading_currencies(each) for each in ("Betrag (GBP)", "Kwota (zł)", "amount_usd", "All")]
    [('GBP',), ('PLN',), ('USD',), ()]
    """
    words = _TOKEN.findall(_CAMEL.sub(" ", heading.replace("_", " "))[:200])
    if len(words) == 1:
        token = words[0]
        return (
            find_currencies(token) if token in CURRENCIES or not token[-1].isalnum() else _find_name_currencies(token)
        )
    results = [
        currencies
        for position, token in enumerate(words)
        if (currencies := _find_token_currencies(token, position, words))
    ]
    return results[-1] if results else ()


def _find_token_currencies(token: str, position: int, words: list[str]) -> tuple[str, ...]:
    if token in get_currency_codes() or token.upper() in CURRENCIES:
        return (token.upper(),)
    if not token[-1].isalnum():
        return find_currencies(token)
    named = (position and _find_name_currencies(f"{words[position - 1]} {token}")) or _find_name_currencies(token)
    is_last = position == len(words) - 1  # before other words an abbreviation is a word of its own
    return named or (find_currencies(token) if is_last and token.casefold() not in _ONLY_IN_CELLS else ())


def _find_name_currencies(text: str) -> tuple[str, ...]:
    """The currencies that a name means, in its singular or plural."""
    name = fold_currency_name(text)
    return get_currency_names().get(name) or get_currency_names().get(name.removesuffix("s")) or ()


def choose_currency(currencies: tuple[str, ...], *, own_currency: str, stated_currency: str = "") -> str | None:
    """The one that a sign means: what somebody stated, else the account's own; None where several others are left.

    >>> choose_currency(("USD", "CAD"), own_currency="CAD")
    'CAD'
    >>> choose_currency(("USD", "CAD"), own_currency="EUR", stated_currency="CAD")
    'CAD'
    >>> choose_currency(("GBP",), own_currency="EUR"), choose_currency(("USD", "CAD"), own_currency="EUR")
    ('GBP', None)
    """
    for currency in (stated_currency, own_currency):
        if currency in currencies:
            return currency
    return currencies[0] if len(currencies) == 1 else None


def count_currency_decimals(currency: str) -> int:
    """The decimals of a currency, two of those that the ledger does not have."""
    return get_minor_units(currency) if currency in CURRENCIES else 2


def convert_cents_to_units(amount: str, decimals: int) -> str:
    """An amount of cents as one of whole units.

    >>> convert_cents_to_units("-1250", 2), convert_cents_to_units("5", 0)
    ('-12.50', '5')
    """
    return format(Decimal(amount).scaleb(-decimals), "f")


def intersect_currency_candidates(candidate_groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """What several signs may mean together: the currencies that all of them allow, else each of them.

    >>> intersect_currency_candidates([("USD", "CAD"), ("CAD",)]), intersect_currency_candidates([("USD",), ("EUR",)])
    (('CAD',), ('USD', 'EUR'))
    """
    groups = list(candidate_groups)
    common = [
        currency
        for currency in dict.fromkeys(code for group in groups for code in group)
        if all(currency in g for g in groups)
    ]
    return tuple(common or dict.fromkeys(code for group in groups for code in group))
