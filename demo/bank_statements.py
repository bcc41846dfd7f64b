"""Bank statements of the demo company: one that is out of balance, and a sample file to import."""

from datetime import date, timedelta
from decimal import Decimal

from companies.models import AuditContext, Company
from companies.time_zones import get_today
from ledger.accounts.queries import sum_account_balances
from ledger.bank_statements.actions.statements import import_statement
from ledger.files import actions
from ledger.models import Account

SAMPLE_STATEMENT_NAME = "northbank-statement-to-try.xml"
BALANCE_DIFFERENCE = Decimal("12.50")  # reported by the bank, but not booked
SAMPLE_MOVEMENTS = (
    ("-1190.00", "Nimbus Cloud", "Invoice 7041, hosting"),
    ("4760.00", "Globex GmbH", "Invoice 1042"),
    ("-38.20", "City Taxi", "Airport"),
    ("-3.50", "Coffee bar", ""),
    ("-3.50", "Coffee bar", ""),
)
STATEMENT_TEMPLATE = """<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>{day:%Y-%m-%d}</Id>
<FrToDt><FrDtTm>{day}T00:00:00</FrDtTm><ToDtTm>{day}T23:59:59</ToDtTm></FrToDt>
<Acct><Id><IBAN>{number}</IBAN></Id><Ccy>{currency}</Ccy></Acct>
{opening}{closing}{entries}</Stmt></BkToCstmrStmt></Document>
"""
BALANCE_TEMPLATE = """<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy="{currency}">{amount}</Amt>
<CdtDbtInd>{sign}</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>
"""
ENTRY_TEMPLATE = """<Ntry><Amt Ccy="{currency}">{amount}</Amt><CdtDbtInd>{sign}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>{day}</Dt></BookgDt><AcctSvcrRef>{reference}</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><{side}><Pty>
<Nm>{name}</Nm></Pty></{side}></RltdPties><RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
"""


def import_demo_statements(*, company: Company, context: AuditContext, accounts: dict[str, Account]) -> None:
    """Import a statement that reports more than is booked, and create a sample statement file."""
    day = get_today(company, context.time) - timedelta(days=1)
    balances = sum_account_balances(company_id=company.id, day=day)
    savings, main = accounts["savings"], accounts["main"]
    reserve_balance, main_balance = (
        balances.get(each.id, {}).get(each.default_currency, Decimal(0)) for each in (savings, main)
    )
    statement = build_camt_statement(
        savings, day=day, opening=reserve_balance, closing=reserve_balance + BALANCE_DIFFERENCE
    )
    import_statement(
        company=company, context=context, content=statement, filename="northbank-reserve.xml", account=savings
    )
    after = main_balance + sum(Decimal(amount) for amount, _, _ in SAMPLE_MOVEMENTS)
    to_try = build_camt_statement(main, day=day, opening=main_balance, closing=after, movements=SAMPLE_MOVEMENTS)
    actions.create_file(
        company=company, context=context, name=SAMPLE_STATEMENT_NAME, content=to_try, transaction_ids=[]
    )


def build_camt_statement(
    account: Account,
    *,
    day: date,
    opening: Decimal,
    closing: Decimal,
    movements: tuple[tuple[str, str, str], ...] = (),
) -> bytes:
    """Build a CAMT.053 statement of one day."""
    currency = account.default_currency
    entries = [
        ENTRY_TEMPLATE.format(
            currency=currency,
            amount=amount.lstrip("-"),
            sign=get_debit_credit_code(Decimal(amount)),
            day=day,
            reference=f"{day:%Y%m%d}{number:04}",
            side="Cdtr" if amount.startswith("-") else "Dbtr",
            name=name,
            text=text,
        )
        for number, (amount, name, text) in enumerate(movements, 1)
    ]
    return STATEMENT_TEMPLATE.format(
        day=day,
        number="".join((account.account_number or "").split()),
        currency=currency,
        opening=build_camt_balance("OPBD", opening, currency, day),
        closing=build_camt_balance("CLBD", closing, currency, day),
        entries="".join(entries),
    ).encode()


def build_camt_balance(kind: str, amount: Decimal, currency: str, day: date) -> str:
    return BALANCE_TEMPLATE.format(
        kind=kind, currency=currency, amount=f"{abs(amount):.2f}", sign=get_debit_credit_code(amount), day=day
    )


def get_debit_credit_code(amount: Decimal) -> str:
    return "DBIT" if amount < 0 else "CRDT"
