"""Rows whose amount cannot be read: each refuses the file, whichever columns the amounts are found in."""

import json

import pytest

from tests.ledger.statement_upload import get_status_and_code, upload_statement

pytestmark = pytest.mark.django_db

PAIR = "Date,Debit,Credit,Description\n"
ONE_CREDIT, TWO_CREDITS = "2026-01-29,,100.00,a x\n", "2026-01-28,,100.00,a\n2026-01-29,,20.00,b\n"
FILES = {
    "one credit": (f"{PAIR}{ONE_CREDIT}2026-01-30,5.5.5,,rent\n", 3),
    "two credits": (f"{PAIR}{TWO_CREDITS}2026-01-30,5.5.5,,rent\n", 4),
    "most debits": (f"{PAIR}{TWO_CREDITS}2026-01-30,5.5.5,,rent\n2026-01-31,1.2O,,b\n2026-02-01,7.00,,c\n", 4),
    "only credit": (f"{PAIR}2026-01-28,100.00,,a\n2026-01-29,20.00,,b\n2026-01-30,,5.5.5,sale\n", 4),
    "credit beside negative debits": (f"{PAIR}2026-01-28,-100.00,,a\n2026-01-29,-20.00,,b\n2026-01-30,,5.5.5,c\n", 4),
    "letter in a debit": (f"{PAIR}{TWO_CREDITS}2026-01-30,1O.00,,rent\n", 4),
    "words": (f"{PAIR}{TWO_CREDITS}2026-01-30,twelve,,rent\n", 4),
    "words and digits": (f"{PAIR}{ONE_CREDIT}2026-01-30,12 and fifty,,rent\n", 3),
    "day in place of a debit": (f"{PAIR}{TWO_CREDITS}2026-01-30,01.02.2024,,rent\n", 4),
    "words as a credit": (f"{PAIR}2026-01-28,100.00,,a\n2026-01-29,20.00,,b\n2026-01-30,,twelve,sale\n", 4),
    "beside a balance": (
        "Date,Debit,Credit,Balance,Description\n2026-01-28,,100.00,100.00,a\n2026-01-29,,20.00,120.00,b\n"
        "2026-01-30,5.5.5,,115.00,rent\n",
        4,
    ),
    "German": ("Datum;Soll;Haben;Text\n28.01.2026;;100,00;a\n29.01.2026;;20,00;b\n30.01.2026;5,5,5;;c\n", 4),
}
SETTINGS = {
    "none": None,
    "sign": {"flipSign": False},
    "pair": {"columns": {"date": "Date", "debit": "Debit", "credit": "Credit", "description": ["Description"]}},
    "credit alone": {"columns": {"date": "Date", "credit": "Credit", "description": ["Description"]}},
    "amount alone": {"columns": {"date": "Date", "amount": "Credit", "description": ["Description"]}},
}


def assert_line_is_refused(answer, line, case):
    assert get_status_and_code(answer) == (400, "statement_unreadable"), (case, answer.json())
    assert answer.json()["detail"].startswith(f"Line {line}:"), case


def test_garbled_amount_alone_in_its_column_refuses_the_file(api, bank):
    for name, (content, line) in FILES.items():
        assert_line_is_refused(upload_statement(api, content.encode(), accountId=bank), line, name)


def test_settings_do_not_hide_a_garbled_amount(api, bank):
    for name, values in SETTINGS.items():
        settings = values and {"importSettings": json.dumps({"csv": {"flipSign": False} | values})}
        for file in ("one credit", "two credits"):
            content, line = FILES[file]
            answer = upload_statement(api, content.encode(), accountId=bank, **settings or {})
            assert_line_is_refused(answer, line, (name, file))


@pytest.mark.parametrize("placeholder", ["-", "n/a", "0.00"])
def test_column_without_amounts_is_no_garbled_amount(upload_statement_file, bank, placeholder):
    content = f"{PAIR}2026-01-28,{placeholder},100.00,a\n2026-01-29,{placeholder},20.00,b\n"
    settings = json.dumps({"flipSign": False})
    assert upload_statement_file(content.encode(), accountId=bank, importSettings=settings)["count"] == 2
