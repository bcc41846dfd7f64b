"""Random CSV files as banks write them, with the transactions that they contain."""

import csv
import io
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

CENT = Decimal("0.01")
DATE_FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%d-%m-%Y", "%Y%m%d", "%d %b %Y", "%d.%m.%y")
LAYOUTS = ("signed", "signed", "direction", "debit and credit", "debit with minus")
EXTRA_COLUMNS = ("", "", "reference", "original", "fee", "tax", "value date", "rate")
NAMES = ("Rewe", "Stadtwerke", "Globex GmbH", "Amazon", "Miete Müller")
# By language: headings (several where banks differ), the words for debit and credit, the three states, and the total.
WORDS = {
    "de": {
        "date": "Buchungstag|Datum", "value date": "Valuta", "party": "Empfänger|Auftraggeber / Empfänger",
        "text": "Verwendungszweck|Buchungstext", "amount": "Betrag|Umsatz", "debit": "Soll", "credit": "Haben",
        "direction": "S/H|Soll/Haben", "out": "S", "in": "H", "balance": "Saldo|Kontostand", "currency": "Währung",
        "fee": "Gebühr", "status": "Status", "booked": "Gebucht", "pending": "Vorgemerkt", "failed": "Abgelehnt",
        "total": "Summe", "original": "Ursprungsbetrag", "tax": "MwSt", "rate": "Kurs",
    },
    "en": {
        "date": "Date|Booking date", "value date": "Value date", "party": "Payee|Counterparty",
        "text": "Description|Details", "amount": "Amount", "debit": "Debit|Money out", "credit": "Credit|Money in",
        "direction": "Debit/Credit|Dr/Cr", "out": "DR", "in": "CR", "balance": "Balance|Running balance",
        "currency": "Currency", "fee": "Fee", "status": "Status|State", "booked": "Completed", "pending": "Pending",
        "failed": "Failed", "total": "Total", "original": "Original amount", "tax": "VAT", "rate": "Exchange rate",
    },
    "fr": {
        "date": "Date|Date opération", "value date": "Date valeur", "party": "Bénéficiaire|Tiers", "text": "Libellé",
        "amount": "Montant", "debit": "Débit", "credit": "Crédit", "direction": "Sens", "out": "Débit", "in": "Crédit",
        "balance": "Solde", "currency": "Devise", "fee": "Frais", "status": "Statut", "booked": "Exécuté",
        "pending": "En attente", "failed": "Refusé", "total": "Total", "original": "Montant d'origine", "tax": "TVA",
        "rate": "Taux",
    },
    "es": {
        "date": "Fecha|Fecha operación", "value date": "Fecha valor", "party": "Beneficiario", "text": "Concepto",
        "amount": "Importe", "debit": "Cargo|Debe", "credit": "Abono|Haber", "direction": "D/H", "out": "D", "in": "H",
        "balance": "Saldo", "currency": "Divisa", "fee": "Comisión", "status": "Estado", "booked": "Completado",
        "pending": "Pendiente", "failed": "Fallido", "total": "Total", "original": "Importe original", "tax": "IVA",
        "rate": "Tipo de cambio",
    },
    "nl": {
        "date": "Datum|Boekdatum", "value date": "Rentedatum", "party": "Naam tegenpartij|Naam",
        "text": "Omschrijving|Mededelingen", "amount": "Bedrag", "debit": "Af", "credit": "Bij",
        "direction": "Af Bij|Af/Bij", "out": "Af", "in": "Bij", "balance": "Saldo na mutatie|Saldo",
        "currency": "Munt", "fee": "Kosten", "status": "Status", "booked": "Geboekt", "pending": "In behandeling",
        "failed": "Geweigerd", "total": "Totaal", "original": "Oorspronkelijk bedrag", "tax": "BTW", "rate": "Koers",
    },
}  # fmt: skip


@dataclass(frozen=True)
class TrueRow:
    """What a row of a file means; a fee is taken off besides."""

    day: date
    amount: Decimal
    fee: Decimal
    state: str


@dataclass
class GeneratedFile:
    """A file and what it contains."""

    content: bytes
    rows: list[TrueRow]

    def list_stored(self, *, with_fees: bool) -> list[tuple[date, Decimal, bool]]:
        """Return (day, amount, pending) of the rows to store."""
        return sorted(
            (row.day, row.amount - (row.fee if with_fees else 0), row.state == "pending")
            for row in self.rows
            if row.state != "failed"
        )


class FileGenerator:
    """Draws one layout, and writes random rows in it."""

    def __init__(self, seed: int):
        self.random = random = Random(seed)
        self.words = {name: random.choice(words.split("|")) for name, words in WORDS[random.choice([*WORDS])].items()}
        self.decimal = random.choice(",.")
        self.thousands = random.choice(("", "." if self.decimal == "," else ",", " ", "'"))
        self.date_format, self.layout = random.choice(DATE_FORMATS), random.choice(LAYOUTS)
        self.extra = random.choice(EXTRA_COLUMNS)
        self.has_balance, self.has_currency = random.random() < 0.5, random.random() < 0.4
        self.has_states, self.has_headings = random.random() < 0.25, random.random() > 0.08

    def write_amount(self, amount: Decimal) -> str:
        marks = str.maketrans({",": self.thousands, ".": self.decimal})
        return f"{amount.quantize(CENT):,f}".translate(marks)

    def draw_row(self, day: date) -> TrueRow:
        random = self.random
        size = Decimal(random.choice((random.randint(1, 999), random.randint(1000, 9_999_999)))) / 100
        state = random.choice(("pending", "failed")) if self.has_states and random.random() < 0.25 else "booked"
        fee = Decimal(random.randint(10, 500)) / 100 if self.extra == "fee" and random.random() < 0.4 else Decimal(0)
        return TrueRow(day, size if random.random() < 0.35 else -size, fee, state)

    def build_amount_cells(self, amount: Decimal) -> dict[str, str]:
        """Return the cells that say how much came in or went out."""
        if self.layout == "signed":
            return {"amount": self.write_amount(amount)}
        if self.layout == "direction":
            kind = "out" if amount < 0 else "in"
            return {"amount": self.write_amount(abs(amount)), "direction": self.words[kind]}
        out = amount if self.layout == "debit with minus" else -amount
        return {
            "debit": self.write_amount(out) if amount < 0 else "",
            "credit": self.write_amount(amount) if amount > 0 else "",
        }

    def build_cells(self, row: TrueRow, balance: Decimal) -> dict[str, str]:
        """Return the cells of a row by the names of `WORDS`."""
        day = row.day.strftime(self.date_format)
        extra = {
            "reference": str(self.random.randint(100_000, 999_999)),
            "original": self.write_amount(row.amount * Decimal("1.1")),
            "fee": self.write_amount(row.fee),
            "tax": self.write_amount(abs(row.amount) * Decimal("0.19")),
            "value date": day,
            "rate": self.write_amount(Decimal("1.08")),
        }
        return {
            "date": day,
            "party": self.random.choice(NAMES),
            "text": f"Order {self.random.randint(1, 9999)}",
            **self.build_amount_cells(row.amount),
            **({"currency": "EUR"} if self.has_currency else {}),
            **({self.extra: extra[self.extra]} if self.extra else {}),
            **({"status": self.words[row.state]} if self.has_states else {}),
            **({"balance": self.write_amount(balance)} if self.has_balance else {}),
        }

    def build_file(self) -> GeneratedFile:
        random = self.random
        day, balance = date(2025, random.randint(1, 12), random.randint(1, 20)), Decimal(random.randint(0, 10**6)) / 100
        rows, cells = [], []
        for _ in range(random.choice((2, 3, 4, 5, 8, 12, 30))):
            day += timedelta(days=random.choice((0, 1, 2, 3, 7)))
            row = self.draw_row(day)
            balance += row.amount - row.fee if row.state == "booked" else 0
            rows.append(row)
            cells.append(self.build_cells(row, balance))
        lines = [[*each.values()] for each in cells]
        if random.random() < 0.5:
            lines.reverse()
        if self.has_headings:
            lines.insert(0, [self.words.get(name, "ID") for name in cells[0]])
        if random.random() < 0.3:
            lines.insert(0, ["IBAN", "DE89370400440532013000"])
        if random.random() < 0.2:
            total = self.write_amount(sum((abs(row.amount) for row in rows), Decimal(0)))
            lines.append([self.words["total"], *("",) * 2, total, *("",) * (len(cells[0]) - 4)])
        text = io.StringIO()
        csv.writer(text, delimiter=random.choice(";,\t"), lineterminator="\n").writerows(lines)
        return GeneratedFile(text.getvalue().encode(), rows)
