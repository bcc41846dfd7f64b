"""Who the other party of a row is, in tables that name both the payer and the payee."""

from collections.abc import Sequence

from ledger.imports.calc.column_mapping import ColumnMapping
from ledger.imports.calc.headings import fold_heading

_PAYERS = (
    "payer", "payer name", "from", "from name", "source name", "sender", "sender name", "remitter",
    "zahlungspflichtige r", "zahlungspflichtiger", "auftraggeber", "absender", "zahler", "nadawca", "nazwa nadawcy",
    "ordinante", "ordenante", "avsändare", "afsender", "avsender", "maksaja", "maksajan nimi", "donneur d ordre",
    "ordonnateur", "émetteur", "opdrachtgever", "plátce", "odesílatel", "付款人",
)  # fmt: skip
_PAYEES = (
    "payee", "payee name", "to", "to name", "target name", "recipient", "recipient name", "beneficiary",
    "beneficiary name", "zahlungsempfänger in", "zahlungsempfänger", "empfänger", "empfaenger", "begünstigter",
    "odbiorca", "nazwa odbiorcy", "beneficiario", "destinatario", "beneficiário", "destinatário", "mottagare",
    "modtager", "mottaker", "saaja", "maksunsaaja", "saajan nimi", "bénéficiaire", "begunstigde", "příjemce", "收款人",
)  # fmt: skip
_OTHER_PARTIES = ("counterparty", "counterparty name", "gegenpartei", "naam tegenpartij", "contrepartie", "motpart")
_MERCHANTS = ("merchant", "merchant name")
_PAYERS_ALONE = ("payer", "payer name")
PAYERS, PAYEES = frozenset(map(fold_heading, _PAYERS)), frozenset(map(fold_heading, _PAYEES))
OTHER_PARTIES = frozenset(map(fold_heading, _OTHER_PARTIES))


def find_party_pair(names: Sequence[str]) -> tuple[int, int] | None:
    """The positions of the payer and the payee; None where a table does not name both in columns of their own.

    >>> find_party_pair(["Date", "Payer", "Payee", "Amount"]), find_party_pair(["Date", "Payee", "Amount"])
    ((1, 2), None)
    """
    folded = [fold_heading(name) for name in names]
    payer = next((position for position, name in enumerate(folded) if name in PAYERS), None)
    payee = next((position for position, name in enumerate(folded) if name in PAYEES), None)
    return None if payer is None or payee is None else (payer, payee)


def find_party_columns(names: Sequence[str], position: int, *, is_out: bool) -> list[int]:
    """The positions of columns with the other party of a row, the first that is filled counts.

    ``position`` is the column of the counterparty. Money out reaches the payee, money in comes from the payer; a payer
    alone is somebody of the company where money goes out.

    >>> names = ["Payer", "Payee"]
    >>> find_party_columns(names, 0, is_out=True), find_party_columns(names, 0, is_out=False)
    ([1], [0])
    >>> find_party_columns(["Payer"], 0, is_out=True), find_party_columns(["Name"], 0, is_out=True)
    ([], [0])
    """
    pair = find_party_pair(names)
    if pair and position in pair:
        merchants = [each for each, name in enumerate(names) if fold_heading(name) in _MERCHANTS]
        return [pair[1], *merchants] if is_out else [pair[0]]
    return [] if is_out and fold_heading(names[position]) in _PAYERS_ALONE else [position]


def find_counterparty(names: Sequence[str], mapping: ColumnMapping, cells: Sequence[str], amount: str) -> str:
    """Return the other party of a row with an amount; empty where it names none."""
    position = mapping.columns.get("counterparty")
    if position is None:
        return ""
    positions = find_party_columns(names, position, is_out=amount.startswith("-"))
    return next((cells[each] for each in positions if each < len(cells) and cells[each]), "")
