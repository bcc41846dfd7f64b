"""Reading electronic invoices, and matching 10,000 bank transactions with 10,000 invoices; no database is needed."""

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from time import process_time
from uuid import UUID

from ledger.files.calc.invoice_reader import read_invoice_file
from ledger.files.calc.parse_data import build_parse_data
from planning.calc.invoice_matching import BankTransaction, OpenInvoice, match_invoices
from tests.bench.figures import AT_MOST, print_figure
from tests.ledger.files.einvoice_documents import build_facturx

EXAMPLES = Path(__file__).parents[1] / "data" / "einvoices"
INVOICES = 10_000
PARTIES = 100
ROUNDS = 5


def measure_reading() -> float:
    """Return the milliseconds that the slowest official example takes, as XML or inside a PDF."""
    contents = [(path.read_bytes(), "xml") for path in sorted(EXAMPLES.glob("*.xml"))]
    contents += [(build_facturx(content), "pdf") for content, _ in contents if b"CrossIndustryInvoice" in content]
    slowest = 0.0
    for content, extension in contents:
        times = []
        for _ in range(ROUNDS):
            start = process_time()
            invoice = read_invoice_file(content, extension=extension)
            assert invoice is not None
            build_parse_data(invoice)
            times.append(process_time() - start)
        slowest = max(slowest, min(times))
    return slowest * 1000


def measure_matching() -> float:
    """Return the seconds that it takes to match as many transactions as invoices; a quarter name a number."""
    random, day = Random(7), date(2026, 1, 1)
    invoices = [
        OpenInvoice(
            UUID(int=number + 1),
            day,
            day + timedelta(days=number % 60),
            Decimal(random.randint(10_000, 9_999_999)) / -100,
            "EUR",
            None,
            f"Company {number % PARTIES} Ltd",
            (f"RE-2026-{number:05d}",),
            (f"RF18{number:012d}",),
        )
        for number in range(INVOICES)
    ]
    transactions = [
        BankTransaction(
            UUID(int=INVOICES + number + 1),
            day,
            invoice.amount if number % 4 < 2 else invoice.amount - 1,
            "EUR",
            UUID(int=1),
            invoice.party.upper(),
            f"SEPA invoice {invoice.numbers[0] if number % 4 == 0 else 'of last month'} EREF+NOTPROVIDED thanks",
        )
        for number, invoice in enumerate(invoices)
    ]
    start = process_time()
    matches = match_invoices(invoices, transactions)
    assert len(matches) >= INVOICES // 2
    return process_time() - start


def main() -> None:
    print_figure(
        "the slowest official e-invoice read, as XML or inside a PDF", measure_reading(), "ms", goal=20, way=AT_MOST
    )
    print_figure(
        f"{INVOICES:,} transactions matched with {INVOICES:,} invoices", measure_matching(), "s", goal=2, way=AT_MOST
    )


if __name__ == "__main__":
    main()
