"""Whose statement it is: the account that a file is about."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from django.utils.translation import gettext as _

from companies.errors import Invalid, unknown_id
from companies.models import Company, id_from
from ledger.models import Account
from ledger.statements.calc.facts import Statement
from ledger.statements.calc.sequence import is_copy

GERMAN = re.compile(r"([0-9]{8})/([0-9]{1,10})")  # bank code and account, the two parts of an IBAN
WITH_CURRENCY = re.compile(r"(.*[0-9])[A-Z]{3}")
MAX_NUMBERS_SHOWN = 20
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


class CurrencyDiffers(Invalid):
    """The statement is in another currency than its account. Name an account in the statement's currency."""

    code = "currency_differs"


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


def find_accounts(
    company: Company, statements: Sequence[Statement], account: Account | None
) -> list[tuple[Statement, Account]]:
    """Return each statement with its account, in the order of the file.

    Without ``account`` each goes to the active account that has its number. Into ``account`` goes what is its own: all
    of a file of one account, and of a file of several those statements that have its number (QIF: its name). The
    others are left out.

    Raises:
        AccountUnknown, AccountAmbiguous: without ``account``.
        AccountDiffers: nothing of the file is of ``account``.
        CurrencyDiffers: a statement is in another currency than its account.
    """
    if account is None:
        active = list(Account.objects.of(company.id).active().in_order())
        found = [(statement, find_by_number(active, statement)) for statement in statements]
    else:
        found = [(statement, account) for statement in find_own(account, statements)]
    for statement, each in found:
        if statement.currency != each.default_currency:
            detail = _("The statement is in {currency}, and the account in {own}. Name an account in {currency}.")
            raise CurrencyDiffers(detail.format(currency=statement.currency, own=each.default_currency))
    return found


def find_own(account: Account, statements: Sequence[Statement]) -> list[Statement]:
    """The statements that are of the account: those of its number (QIF: its name), and files that name no account.

    Raises AccountDiffers with the numbers of the file.
    """
    check_unnamed(statements)
    named_in = {each.file for each in statements if has_label(each)}
    labels = list_labels(each for each in statements if each.file in named_in)
    takes_all = len(labels) < 2 and not (account.account_number and any(each.account_number for each in statements))
    own = [each for each in statements if takes_all or each.file not in named_in or is_own(account, each)]
    if not own and statements:
        detail = _("The file is of the account {number}, and you named another one. Name that one, or none.")
        if len(labels) > 1:
            detail = _("The file has statements of {number}, not of the account you named. Name one of these, or none.")
        # Who may only write reads no number of ours.
        raise AccountDiffers(detail.format(number=", ".join(label or "–" for label in labels[:MAX_NUMBERS_SHOWN])))
    in_its_currency = [each for each in own if each.currency == account.default_currency]
    return in_its_currency or own


def has_label(statement: Statement) -> bool:
    return bool(statement.account_number or statement.account_name)


def check_unnamed(statements: Sequence[Statement]) -> None:
    """Hold statements of one file that name no account to be of one: each goes on where another ends, or is its copy.

    Raises AccountDiffers.
    """
    unnamed = [each for each in statements if not has_label(each)]
    for before, after in pairwise(unnamed):
        is_one = before.closing is not None and before.closing == after.opening
        if before.file == after.file and not is_one and not is_copy(before, after):
            detail = _("The file has several statements that name no account. Save each as a file of its own.")
            raise AccountDiffers(detail)


def is_own(account: Account, statement: Statement) -> bool:
    """Whether a statement names the account by its number, or in QIF by its name."""
    if statement.account_number:
        number = account.account_number
        return bool(number and spellings(number) & spellings(statement.account_number, statement.currency))
    return bool(statement.account_name) and is_named(account, statement.account_name)


def is_named(account: Account, name: str) -> bool:
    return name.casefold() in (account.name.casefold(), (account.account_number or "").casefold())


def list_labels(statements: Iterable[Statement]) -> list[str]:
    """The numbers of the accounts in a file (QIF: their names), each once, in one of its spellings."""
    labels: dict[str, set[str]] = {}
    for statement in statements:
        label = statement.account_number or statement.account_name
        written = spellings(label, statement.currency)
        if not any(written & known for known in labels.values()):
            labels[label] = written
    return list(labels)


def find_by_number(accounts: Sequence[Account], statement: Statement) -> Account:
    """The account that a statement is of. Raises AccountUnknown, AccountAmbiguous."""
    number = statement.account_number
    if not number:
        return find_by_name(accounts, statement.account_name)
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


def find_by_name(accounts: Sequence[Account], name: str) -> Account:
    """The account that has this name or number, as QIF names it. Raises AccountUnknown."""
    found = [each for each in accounts if name and is_named(each, name)]
    if len(found) != 1:
        raise AccountUnknown(_("The file does not say of which account it is: send accountId."))
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
