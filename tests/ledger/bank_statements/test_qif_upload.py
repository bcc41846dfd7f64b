"""QIF files that are broken, or of several accounts, or that tell the order of their dates: over HTTP."""

import pytest

from tests.ledger.bank_file_builders import build_qif
from tests.ledger.statement_upload import get_status_and_code, list_stored_rows, upload_statement

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


def test_qif_entry_without_amount_is_rejected_with_line_number(api, acme, bank):
    for amount in [["T"], ["T  "], ["T\t"], ["T", "U"], ["T.", "U1.00"]]:
        answer = upload_statement(
            api, build_qif(["D25/03/2026", "T1.00"], ["D26/03/2026", *amount, "PRent"]), accountId=bank
        )
        assert get_status_and_code(answer) == (400, "statement_unreadable"), amount
        assert answer.json()["detail"].startswith("Line 5: "), amount
        assert list_stored_rows(acme) == [], amount


def test_qif_upload_uses_u_amount_if_t_is_empty(upload_statement_file, acme, bank):
    upload_statement_file(build_qif(["D25/03/2026", "T", "U-7.00", "PRent"]), accountId=bank)
    assert list_stored_rows(acme) == [("2026-03-25", "-7.00", "Rent", "")]


def test_invalid_qif_date_error_names_line_and_expected_format(api, acme, bank):
    for dates, order, line, said in [
        (
            ["25/03/2026", "nonsense"],
            None,
            6,
            "“nonsense” is not a valid date. Use the format 31/12/2026 or 2026-12-31.",
        ),
        (["20260325"], None, 3, "“20260325” is not a valid date. Use the format 31/12/2026 or 2026-12-31."),
        (["2026-13-31"], None, 3, "“2026-13-31” is not a valid date. Use the format 2026-12-31."),
        (["25/03/2026", "2026-31-01"], None, 6, "“2026-31-01” is not a valid date. Use the format 2026-12-31."),
        (["25/03/2026", "04/25/2026"], "dayFirst", 6, "“04/25/2026” is not a valid date with the day first."),
        (
            ["25/03/2026"],
            "monthFirst",
            3,
            "“25/03/2026” is not a valid date with the month first. Choose the other order.",
        ),
    ]:
        records = [["T-1.00", f"D{text}"] for text in dates]
        answer = upload_statement(api, build_qif(*records), accountId=bank, **({"dateOrder": order} if order else {}))
        assert get_status_and_code(answer) == (400, "statement_unreadable"), dates
        assert answer.json()["detail"].startswith(f"Line {line}: {said}"), dates
        assert list_stored_rows(acme) == [], dates


def test_year_first_qif_dates_need_no_date_order(api, upload_statement_file, acme, bank):
    upload_statement_file(build_qif(["D2026-02-03", "T-1.00"], ["D2026/3/4", "T-2.00"]), accountId=bank)
    assert [row[0] for row in list_stored_rows(acme)] == ["2026-02-03", "2026-03-04"]
    assert not (api.get(f"accounts/{bank}").json()["importSettings"] or {}).get("qif")
