"""Find the account that a statement belongs to."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from django.utils.translation import gettext as _

from companies.errors import InvalidInputError, build_unknown_id_error
from companies.models import Company, parse_id
from ledger.bank_statements.calc.statement_matcher import is_statement_copy
from ledger.bank_statements.parsers.models import ParsedStatement
from ledger.imports.calc.account_numbers import list_number_spellings
from ledger.imports.calc.masked_numbers import is_same_masked_number
from ledger.models import Account

MAX_NUMBERS_SHOWN = 20


class AccountUnknown(InvalidInputError):
    """No active account has the statement's number. Choose an account or add the number to one."""

    code = "account_unknown"

    def __init__(self, detail: str | None = None, *, number: str = "", currency: str = ""):
        super().__init__(detail)
        self.number = number  # that nobody has
        self.currency = currency  # of the statement


class AccountDiffers(InvalidInputError):
    """The file belongs to another account. Choose that account or none."""

    code = "account_differs"


class CurrencyDiffers(InvalidInputError):
    """The statement and the account have different currencies. Choose an account in the statement's currency."""

    code = "currency_differs"


class AccountAmbiguous(InvalidInputError):
    """Several active accounts have the statement's number. Choose one."""

    code = "account_ambiguous"


def get_requested_account(company: Company, account_id: str | None) -> Account | None:
    """Return the account that a request names, or None. Raises ValidationFailed (unknown_id)."""
    if account_id is None:
        return None
    known_id = parse_id(account_id)
    account = Account.objects.for_company(company.id).filter(id=known_id).first() if known_id else None
    if account is None:
        raise build_unknown_id_error("#/accountId")
    return account


def find_statement_accounts(
    company: Company, statements: Sequence[ParsedStatement], account: Account | None
) -> list[tuple[ParsedStatement, Account]]:
    """Return each statement with its account, in the order of the file.

    Without ``account`` each goes to the active account with its number. With ``account`` only its own
    statements are returned: all of a file of one account, and of a file of several those with its number (QIF:
    its name).

    Raises:
        AccountUnknown, AccountAmbiguous: without ``account``.
        AccountDiffers: the file has no statement of ``account``.
        CurrencyDiffers: a statement is in another currency than its account.
    """
    if account is None:
        active_accounts = list(Account.objects.for_company(company.id).active().in_display_order())
        pairs = [(statement, find_account_by_number(active_accounts, statement)) for statement in statements]
    else:
        pairs = [(statement, account) for statement in find_own_statements(account, statements)]
    for statement, own_account in pairs:
        if statement.currency != own_account.default_currency:
            detail = _("The statement is in {currency}, the account in {own}. Choose an account in {currency}.")
            raise CurrencyDiffers(detail.format(currency=statement.currency, own=own_account.default_currency))
    return pairs


def find_own_statements(account: Account, statements: Sequence[ParsedStatement]) -> list[ParsedStatement]:
    """The statements that are of the account: those of its number (QIF: its name), and files that name no account.

    An account without a number takes the number of a file of one account, unless another account has it.

    Raises AccountDiffers with the numbers of the file.
    """
    check_unnamed_statements(statements)
    named_in = {statement.file for statement in statements if names_account(statement)}
    labels = list_account_labels(statement for statement in statements if statement.file in named_in)
    is_foreign = has_other_owner(statements, account) if not account.account_number else has_number(statements)
    takes_all = len(labels) < 2 and not is_foreign
    own_statements = [
        statement
        for statement in statements
        if takes_all or statement.file not in named_in or is_own_statement(account, statement)
    ]
    if not own_statements and statements:
        detail = _("The file belongs to account {number}. Choose that account or none.")
        if len(labels) > 1:
            detail = _("The file belongs to account {number}, not to the selected one. Choose that account or none.")
        # A user who may only write must not see our account numbers.
        raise AccountDiffers(detail.format(number=", ".join(label or "–" for label in labels[:MAX_NUMBERS_SHOWN])))
    in_its_currency = [statement for statement in own_statements if statement.currency == account.default_currency]
    return in_its_currency or own_statements


def has_number(statements: Iterable[ParsedStatement]) -> bool:
    return any(statement.account_number for statement in statements)


def has_other_owner(statements: Iterable[ParsedStatement], account: Account) -> bool:
    """Whether another active account in a statement's currency has its number."""
    numbered = [statement for statement in statements if statement.account_number]
    others = Account.objects.for_company(account.company_id).active().exclude(id=account.id) if numbered else []
    return any(
        other.default_currency == statement.currency
        and bool(
            list_number_spellings(other.account_number or "")
            & list_number_spellings(statement.account_number, statement.currency)
        )
        for other in others
        for statement in numbered
    )


def names_account(statement: ParsedStatement) -> bool:
    return bool(statement.account_number or statement.account_name)


def check_unnamed_statements(statements: Sequence[ParsedStatement]) -> None:
    """Hold statements of one file that name no account to be of one: each goes on where another ends, or is its copy.

    Raises AccountDiffers.
    """
    unnamed = [each for each in statements if not names_account(each)]
    for before, after in pairwise(unnamed):
        is_one = before.closing is not None and before.closing == after.opening
        if before.file == after.file and not is_one and not is_statement_copy(before, after):
            detail = _("The file has several statements that name no account. Save each as a separate file.")
            raise AccountDiffers(detail)


def is_own_statement(account: Account, statement: ParsedStatement) -> bool:
    """Whether a statement names the account by its number, or in QIF by its name."""
    if statement.account_number:
        number = account.account_number
        return bool(
            number
            and (
                list_number_spellings(number) & list_number_spellings(statement.account_number, statement.currency)
                or is_same_masked_number(number, statement.account_number)
            )
        )
    return bool(statement.account_name) and has_account_name(account, statement.account_name)


def has_account_name(account: Account, name: str) -> bool:
    """Whether the account has this name or number."""
    return name.casefold() in (account.name.casefold(), (account.account_number or "").casefold())


def list_account_labels(statements: Iterable[ParsedStatement]) -> list[str]:
    """Return the account numbers in a file (QIF: names), each once, in one of its spellings."""
    spellings_by_label: dict[str, set[str]] = {}
    for statement in statements:
        label = statement.account_number or statement.account_name
        number_spellings = list_number_spellings(label, statement.currency)
        if not any(number_spellings & other_spellings for other_spellings in spellings_by_label.values()):
            spellings_by_label[label] = number_spellings
    return list(spellings_by_label)


def find_account_by_number(accounts: Sequence[Account], statement: ParsedStatement) -> Account:
    """Return the account of a statement. Raises AccountUnknown, AccountAmbiguous."""
    number = statement.account_number
    if not number:
        return find_account_by_name(accounts, statement.account_name)
    number_spellings = list_number_spellings(number, statement.currency)
    matches = [
        account
        for account in accounts
        if account.account_number and list_number_spellings(account.account_number) & number_spellings
    ] or [each for each in accounts if each.account_number and is_same_masked_number(each.account_number, number)]
    if not matches:
        detail = _(
            "No active account has the number {number}. Send accountId, or set accountNumber on an account."
        ).format(number=number)
        raise AccountUnknown(detail, number=number, currency=statement.currency)
    if len(matches) > 1:
        matches = [account for account in matches if account.default_currency == statement.currency]
    if len(matches) != 1:
        detail = _("Several active accounts have the number {number}. Send accountId.").format(number=number)
        raise AccountAmbiguous(detail)
    return matches[0]


def find_account_by_name(accounts: Sequence[Account], name: str) -> Account:
    """Return the account with this name or number, as QIF names it. Raises AccountUnknown."""
    matches = [account for account in accounts if name and has_account_name(account, name)]
    if len(matches) != 1:
        raise AccountUnknown(_("The file contains no account number. Send accountId."))
    return matches[0]
