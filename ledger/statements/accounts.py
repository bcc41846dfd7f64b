"""Whose statement it is: the account that a file is about."""

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from companies.errors import Invalid, unknown_id
from companies.models import Company, id_from
from ledger.models import Account
from ledger.statements.calc.facts import Statement

GERMAN = re.compile(r"([0-9]{8})/([0-9]{1,10})")  # bank code and account, the two parts of an IBAN
WITH_CURRENCY = re.compile(r"(.*[0-9])[A-Z]{3}")
WITH_BIC = re.compile(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?/(.+)")


class AccountUnknown(Invalid):
    """No active account has the number of the statement; name the account, or give one that number."""

    code = "account_unknown"

    def __init__(self, detail: str | None = None, *, number: str = ""):
        super().__init__(detail)
        self.number = number  # that nobody has


class AccountDiffers(Invalid):
    """The file is of another account than the one that was named."""

    code = "account_differs"


class AccountAmbiguous(Invalid):
    """Several active accounts have this number, and none alone the statement's currency; name one of them."""

    code = "account_ambiguous"


def named(company: Company, account_id: str | None) -> Account | None:
    """The account that a request names. Raises FieldErrors (unknown_id)."""
    if account_id is None:
        return None
    wanted = id_from(account_id)
    account = Account.objects.of(company.id).filter(id=wanted).first() if wanted else None
    if account is None:
        raise unknown_id("#/accountId")
    return account


def find(company: Company, statements: Sequence[Statement], account: Account | None) -> list[Account]:
    """The account of each statement. Raises AccountUnknown, AccountDiffers, AccountAmbiguous."""
    if account is not None:
        return [checked(account, statement) for statement in statements]
    active = list(Account.objects.of(company.id).active().in_order())
    return [by_number(active, statement) for statement in statements]


def checked(account: Account, statement: Statement) -> Account:
    if not statement.account_number or not account.account_number:
        return account
    if not spellings(account.account_number) & spellings(statement.account_number, statement.currency):
        detail = _("The file is of the account {number}, and you named another one. Name that one, or none.")
        raise AccountDiffers(
            detail.format(number=statement.account_number)
        )  # who may only write reads no number of ours
    return account


def by_number(accounts: Sequence[Account], statement: Statement) -> Account:
    number = statement.account_number
    if not number:
        raise AccountUnknown(_("The file does not say of which account it is: send accountId."))
    wanted = spellings(number, statement.currency)
    found = [each for each in accounts if each.account_number and spellings(each.account_number) & wanted]
    if not found:
        detail = _("No active account has the number {number} (accountNumber).").format(number=number)
        raise AccountUnknown(detail, number=number)
    if len(found) > 1:
        found = [each for each in found if each.default_currency == statement.currency]
    if len(found) != 1:
        detail = _("Several active accounts have the number {number}: send accountId.").format(number=number)
        raise AccountAmbiguous(detail)
    return found[0]


def spellings(number: str, currency: str = "") -> set[str]:
    """The ways in which a number may be written that mean the same account.

    >>> sorted(spellings("12345678/1020304050")), sorted(spellings("NL71RABO0123456789EUR", "EUR"))
    (['12345678/1020304050', 'DE123456781020304050'], ['NL71RABO0123456789', 'NL71RABO0123456789EUR'])
    >>> sorted(spellings("DE89 3704 0044 0532 0130 00"))
    ['DE370400440532013000', 'DE89370400440532013000']
    """
    plain = "".join(number.split()).upper()
    found = {plain}
    if german := GERMAN.fullmatch(plain):
        found.add(f"DE{german[1]}{int(german[2]):010}")
    if plain.startswith("DE") and len(plain) == 22:  # without its check digits, which the older form has not
        found.add(f"DE{plain[4:]}")
    if currency and plain.endswith(currency) and (match := WITH_CURRENCY.fullmatch(plain)):
        found.add(match[1])
    if behind := WITH_BIC.fullmatch(plain):
        found.add(behind[1])
    return found
