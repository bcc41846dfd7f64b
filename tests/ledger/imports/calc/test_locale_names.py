"""The names of months and currencies that imports know are those of babel."""

import json
import os

from babel import Locale

from ledger.imports.calc.currencies import fold_currency_name, get_currency_codes
from ledger.imports.calc.dates import fold_month_name
from ledger.imports.calc.locale_names import NAMES_FILE
from ledger.money.calc.money import CURRENCIES

MONTH_LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sk", "hu", "ro", "sv", "da", "nb", "fi", "ru", "uk", "tr",
)  # fmt: skip
CURRENCY_LANGUAGES = (*MONTH_LANGUAGES, "zh", "ja")
SIGN_LOCALES = (
    "en_US", "en_GB", "de_CH", "pl", "cs", "hu", "ro", "bg", "hr", "ru", "uk", "tr", "ja", "zh", "he", "ko", "sv",
)  # fmt: skip
OTHER_CURRENCIES = ("RUB", "UAH", "BGN")
MIN_MONTH_LENGTH = 3


def list_currency_signs():
    signs = {}
    for name in SIGN_LOCALES:
        for code, sign in Locale.parse(name).currency_symbols.items():
            if sign != code and code in get_currency_codes():
                signs.setdefault(sign.casefold().rstrip("."), code)
    return signs


def list_currency_names():
    codes_by_name = {}
    for language in CURRENCY_LANGUAGES:
        names = Locale.parse(language).currencies
        for code in (*CURRENCIES, *OTHER_CURRENCIES):
            if name := fold_currency_name(names.get(code, "")):
                codes = codes_by_name.setdefault(name, [])
                codes += [] if code in codes else [code]
    return codes_by_name


def list_months():
    numbers = {}
    for language in MONTH_LANGUAGES:
        months = Locale.parse(language).months
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[form][width].items():
                    numbers.setdefault(fold_month_name(str(name)), set()).add(number)
    return {
        name: min(found) for name, found in numbers.items() if len(found) == 1 and len(name) >= MIN_MONTH_LENGTH
    }  # a name of two months means none


def test_stored_names_equal_those_of_babel():
    names = {"currencySigns": list_currency_signs(), "currencyNames": list_currency_names(), "months": list_months()}
    if os.environ.get("WRITE_LOCALE_NAMES"):
        NAMES_FILE.write_text(json.dumps(names, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")
    assert names == json.loads(NAMES_FILE.read_text("utf-8")), "WRITE_LOCALE_NAMES=1 writes them anew."
