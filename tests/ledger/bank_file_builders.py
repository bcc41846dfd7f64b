"""Build bank files in CAMT, MT940, MT942, OFX and QIF format."""

from decimal import Decimal
from itertools import count
from xml.sax.saxutils import escape

IBAN = "DE89370400440532013000"
CAMT_MESSAGE_NAMES = {
    "052": ("BkToCstmrAcctRpt", "Rpt"),
    "053": ("BkToCstmrStmt", "Stmt"),
    "054": ("BkToCstmrDbtCdtNtfctn", "Ntfctn"),
}


def build_tag(name, *inside, **attributes):
    text = "".join(str(part) for part in inside if part is not None)
    return f"<{name}{''.join(f' {key}={chr(34)}{value}{chr(34)}' for key, value in attributes.items())}>{text}</{name}>"


def build_amount(value, currency="EUR"):
    return build_tag("Amt", str(abs(Decimal(value))), Ccy=currency)


def build_sign(value):
    return build_tag("CdtDbtInd", "DBIT" if Decimal(value) < 0 else "CRDT")


def build_party(value, name, *, reversal=False, version=2):
    """Build the counterparty: the debtor of incoming money, the creditor of outgoing money."""
    side = "Dbtr" if (Decimal(value) >= 0) is not reversal else "Cdtr"
    inner = build_tag("Nm", escape(name))
    return build_tag("RltdPties", build_tag(side, build_tag("Pty", inner) if version >= 8 else inner))


def build_detail(value=None, *, name="", text="", end_to_end=None, mandate=None, currency="EUR", entry_value=None):
    """Build one payment of an entry; ``entry_value`` is the entry's amount if the payment has none."""
    signed_value = entry_value if value is None else value
    return build_tag(
        "TxDtls",
        build_tag(
            "Refs",
            build_tag("EndToEndId", end_to_end) if end_to_end else "",
            build_tag("MndtId", mandate) if mandate else "",
        ),
        build_amount(value, currency) if value is not None else "",
        build_sign(value) if value is not None else "",
        build_party(signed_value, name) if name else "",
        build_tag("RmtInf", build_tag("Ustrd", escape(text))) if text else "",
    )


def build_entry(
    value,
    day="2026-01-15",
    *,
    name="Initech GmbH",
    text="Invoice 1042",
    ref=None,
    status="BOOK",
    currency="EUR",
    value_day=None,
    reversal=False,
    details=None,
    version=2,
    more="",
):
    inside = details
    if inside is None:
        inside = build_tag(
            "TxDtls",
            build_party(value, name, reversal=reversal, version=version) if name else "",
            build_tag("RmtInf", build_tag("Ustrd", escape(text))) if text else "",
        )
    return build_tag(
        "Ntry",
        build_amount(value, currency),
        build_sign(value),
        build_tag("RvslInd", "true") if reversal else "",
        build_tag("Sts", build_tag("Cd", status) if version >= 8 else status) if status else "",
        build_tag("BookgDt", build_tag("Dt", day)) if day else "",
        build_tag("ValDt", build_tag("Dt", value_day or day)) if (value_day or day) else "",
        build_tag("AcctSvcrRef", ref) if ref else "",
        more,
        build_tag("NtryDtls", inside),
    )


def build_balance(kind, value, day, currency="EUR"):
    return build_tag(
        "Bal",
        build_tag("Tp", build_tag("CdOrPrtry", build_tag("Cd", kind))),
        build_amount(value, currency),
        build_sign(value),
        build_tag("Dt", build_tag("Dt", day)),
    )


def build_statement(
    *entries,
    kind="053",
    iban=IBAN,
    currency="EUR",
    start="2026-01-01",
    end="2026-01-31",
    opening=None,
    closing=None,
    number="2026-01",
):
    account = build_tag(
        "Acct", build_tag("Id", build_tag("IBAN", iban)) if iban else "", build_tag("Ccy", currency) if currency else ""
    )
    balances = [
        build_balance("OPBD", opening, start, currency) if opening is not None else "",
        build_balance("CLBD", closing, end, currency) if closing is not None else "",
    ]
    period = build_tag("FrToDt", build_tag("FrDtTm", f"{start}T00:00:00"), build_tag("ToDtTm", f"{end}T23:59:59"))
    created = build_tag("CreDtTm", f"{end}T23:59:59+01:00")
    return build_tag(
        CAMT_MESSAGE_NAMES[kind][1], build_tag("Id", number), created, period, account, *balances, *entries
    )


def build_camt(*statements, kind="053", version=2, prefix="", encoding="UTF-8", declared=None):
    """Build a document of statements."""
    space = f"urn:iso:std:iso:20022:tech:xsd:camt.{kind}.001.{version:02}"
    body = build_tag(CAMT_MESSAGE_NAMES[kind][0], build_tag("GrpHdr", build_tag("MsgId", "1")), *statements)
    text = f'<Document xmlns="{space}">{body}</Document>'
    if prefix:
        text = text.replace("</", "\0").replace("<", f"<{prefix}:").replace("\0", f"</{prefix}:")
        text = text.replace("xmlns=", f"xmlns:{prefix}=")
    head = f'<?xml version="1.0" encoding="{declared or encoding}"?>\n'
    return (head + text).encode(encoding)


def build_simple_camt(
    *values, start="2026-01-01", end="2026-01-31", opening="100.00", closing=None, day="2026-01-15", **more
):
    """Build a document of one consistent statement, with one entry per value."""
    total = Decimal(opening) + sum(map(Decimal, values))
    numbers = count(1)
    entries = [build_entry(value, day, ref=f"{day}-{next(numbers)}") for value in values]
    return build_camt(
        build_statement(*entries, start=start, end=end, opening=opening, closing=closing or total, **more)
    )


def build_mt940(*movements, account=IBAN, opening="C260101EUR100,00", closing="C260131EUR100,00", number="1/1"):
    """Build an MT940 statement; movements are (field 61, field 86)."""
    lines = [":20:STARTUMS", f":25:{account}", f":28C:{number}", f":60F:{opening}"]
    for movement, details in movements:
        lines += [f":61:{movement}", f":86:{details}"]
    return ("\r\n".join([*lines, f":62F:{closing}", "-"]) + "\r\n").encode()


def build_mt942(*movements, account=IBAN, currency="EUR"):
    lines = [":20:INTRADAY", f":25:{account}", ":28C:1/1", f":34F:{currency}0,00", ":13D:2601151200+0100"]
    for movement, details in movements:
        lines += [f":61:{movement}", f":86:{details}"]
    return ("\r\n".join([*lines, "-"]) + "\r\n").encode()


def build_ofx(*movements, account=IBAN, currency="EUR", balance=None, closed=False, start="20260101", end="20260131"):
    """Build OFX 1, or OFX 2 with closed tags; movements are {tag: value}."""

    def leaf(name, value):
        return f"<{name}>{value}</{name}>\n" if closed else f"<{name}>{value}\n"

    head = (
        '<?xml version="1.0"?>\n<?OFX OFXHEADER="200" VERSION="211"?>\n'
        if closed
        else "OFXHEADER:100\nDATA:OFXSGML\n\n"
    )
    rows = "".join(
        f"<STMTTRN>\n{''.join(leaf(name, value) for name, value in movement.items())}</STMTTRN>\n"
        for movement in movements
    )
    ledger = f"<LEDGERBAL>\n{leaf('BALAMT', balance)}{leaf('DTASOF', end)}</LEDGERBAL>\n" if balance else ""
    return (
        f"{head}<OFX>\n<BANKMSGSRSV1><STMTTRNRS><STMTRS>\n{leaf('CURDEF', currency)}"
        f"<BANKACCTFROM>\n{leaf('BANKID', '37040044')}{leaf('ACCTID', account)}</BANKACCTFROM>\n"
        f"<BANKTRANLIST>\n{leaf('DTSTART', start)}{leaf('DTEND', end)}{rows}</BANKTRANLIST>\n{ledger}"
        "</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"
    ).encode()


def build_qif(*records, kind="Bank"):
    """Build a QIF file; records are lists of lines."""
    return ("".join([f"!Type:{kind}\n", *("\n".join([*record, "^\n"]) for record in records)])).encode()
