"""Bank statements of the demo company: one that is out of balance, and a sample file to import."""

from datetime import timedelta
from decimal import Decimal

from demo.books import DemoBooks
from demo.story import read_template
from ledger.accounts.queries import sum_account_balances
from ledger.bank_statements.actions.statements import import_statement
from ledger.files import actions

SAMPLE_STATEMENT_NAME = "northbank-statement-to-try.xml"
SAMPLE_STATEMENT_TOTAL = Decimal("3524.80")  # of its movements
BALANCE_DIFFERENCE = Decimal("12.50")  # reported by the bank, but not booked


def import_demo_statements(*, books: DemoBooks) -> None:
    """Import a statement that reports more than is booked, and create a sample statement file."""
    savings = books.accounts["savings"]
    statement = build_statement(books, "savings", template="reserve_statement.xml", total=BALANCE_DIFFERENCE)
    import_statement(**books.scope, content=statement, filename="northbank-reserve.xml", account=savings)
    to_try = build_statement(books, "main", template="statement_to_try.xml", total=SAMPLE_STATEMENT_TOTAL)
    actions.create_file(**books.scope, name=SAMPLE_STATEMENT_NAME, content=to_try, transaction_ids=[])


def build_statement(books: DemoBooks, key: str, *, template: str, total: Decimal) -> bytes:
    """Build a CAMT.053 statement of yesterday, whose balance changes by `total`."""
    day = books.today - timedelta(days=1)
    account = books.accounts[key]
    balances = sum_account_balances(company_id=books.company.id, day=day)
    opening = balances.get(account.id, {}).get(account.default_currency, Decimal(0))
    return read_template(template).format(day=day, opening=opening, closing=opening + total).encode()
