"""What the demonstration company's bank says: a statement that does not agree, and one to try the import with."""

from datetime import date, timedelta
from decimal import Decimal

from companies.models import Company, Stamp
from companies.time_zones import get_today
from ledger.accounts.balances import balances_on
from ledger.documents import keeping
from ledger.models import Account
from ledger.statements.receiving import receive

TO_TRY = "northbank-statement-to-try.xml"
TOO_MUCH = Decimal("12.50")  # that the bank reports and nobody has booked
MOVEMENTS = (
    ("-1190.00", "Nimbus Cloud", "Invoice 7041, hosting"),
    ("4760.00", "Globex GmbH", "Invoice 1042"),
    ("-38.20", "City Taxi", "Airport"),
    ("-3.50", "Coffee bar", ""),
    ("-3.50", "Coffee bar", ""),
)
STATEMENT = """<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>{day:%Y-%m-%d}</Id>
<FrToDt><FrDtTm>{day}T00:00:00</FrDtTm><ToDtTm>{day}T23:59:59</ToDtTm></FrToDt>
<Acct><Id><IBAN>{number}</IBAN></Id><Ccy>{currency}</Ccy></Acct>
{opening}{closing}{entries}</Stmt></BkToCstmrStmt></Document>
"""
BALANCE = """<Bal><Tp><CdOrPrtry><Cd>{kind}</Cd></CdOrPrtry></Tp><Amt Ccy="{currency}">{amount}</Amt>
<CdtDbtInd>{sign}</CdtDbtInd><Dt><Dt>{day}</Dt></Dt></Bal>
"""
ENTRY = """<Ntry><Amt Ccy="{currency}">{amount}</Amt><CdtDbtInd>{sign}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>{day}</Dt></BookgDt><AcctSvcrRef>{reference}</AcctSvcrRef><NtryDtls><TxDtls><RltdPties><{side}><Pty>
<Nm>{name}</Nm></Pty></{side}></RltdPties><RmtInf><Ustrd>{text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
"""


def bring_statements(*, company: Company, stamp: Stamp, accounts: dict[str, Account]) -> None:
    """The reserve's bank reports more than is booked; and among the documents lies a file of the current account."""
    day = get_today(company, stamp.time) - timedelta(days=1)
    held = balances_on(company_id=company.id, day=day)
    savings, main = accounts["savings"], accounts["main"]
    reserve, balance = (held.get(each.id, {}).get(each.default_currency, Decimal(0)) for each in (savings, main))
    text = written(savings, day=day, opening=reserve, closing=reserve + TOO_MUCH)
    receive(company=company, stamp=stamp, content=text, filename="northbank-reserve.xml", account=savings)
    after = balance + sum(Decimal(amount) for amount, _, _ in MOVEMENTS)
    to_try = written(main, day=day, opening=balance, closing=after, movements=MOVEMENTS)
    keeping.keep(company=company, stamp=stamp, name=TO_TRY, content=to_try, transaction_ids=[])


def written(
    account: Account,
    *,
    day: date,
    opening: Decimal,
    closing: Decimal,
    movements: tuple[tuple[str, str, str], ...] = (),
) -> bytes:
    """A CAMT.053 of one day."""
    currency = account.default_currency
    entries = [
        ENTRY.format(
            currency=currency,
            amount=amount.lstrip("-"),
            sign=sign(Decimal(amount)),
            day=day,
            reference=f"{day:%Y%m%d}{number:04}",
            side="Cdtr" if amount.startswith("-") else "Dbtr",
            name=name,
            text=text,
        )
        for number, (amount, name, text) in enumerate(movements, 1)
    ]
    return STATEMENT.format(
        day=day,
        number="".join((account.account_number or "").split()),
        currency=currency,
        opening=balance("OPBD", opening, currency, day),
        closing=balance("CLBD", closing, currency, day),
        entries="".join(entries),
    ).encode()


def balance(kind: str, amount: Decimal, currency: str, day: date) -> str:
    return BALANCE.format(kind=kind, currency=currency, amount=f"{abs(amount):.2f}", sign=sign(amount), day=day)


def sign(amount: Decimal) -> str:
    return "DBIT" if amount < 0 else "CRDT"
