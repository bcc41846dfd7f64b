"""Settings of CSV files that cannot be used are refused with a pointer, and nothing of them is kept."""

import json

import pytest

from ledger.accounts.calc.csv_settings import list_setting_faults
from ledger.models import Account
from tests.ledger.imports.sample_files import read_file
from tests.ledger.imports.test_sample_files import list_stored
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db

BAD = [
    ({"flipSign": "true"}, "/flipSign", "invalid_value"),
    ({"decimalMark": "x"}, "/decimalMark", "invalid_choice"),
    ({"dateOrder": 1}, "/dateOrder", "invalid_choice"),
    ({"encoding": "klingon"}, "/encoding", "invalid_choice"),
    ({"separator": "::"}, "/separator", "invalid_value"),
    ({"skipAbove": -1}, "/skipAbove", "out_of_range"),
    ({"skipBelow": "2"}, "/skipBelow", "invalid_value"),
    ({"currency": "eur"}, "/currency", "invalid_choice"),
    ({"columns": ["Date"]}, "/columns", "invalid_value"),
    ({"columns": {"amoumt": "Sum"}}, "/columns/amoumt", "unknown_field"),
    ({"columns": {"amount": -1}}, "/columns/amount", "invalid_value"),
    ({"columns": {"amount": True}}, "/columns/amount", "invalid_value"),
    ({"columns": {"description": ["Text", None]}}, "/columns/description/1", "invalid_value"),
    ({"directionValues": {"in": "C"}}, "/directionValues/in", "invalid_value"),
    ({"directionValues": {"up": ["C"]}}, "/directionValues/up", "unknown_field"),
    ({"statusValues": {"booked": [1]}}, "/statusValues/booked/0", "invalid_value"),
    ({"unprovenSign": "up"}, "/unprovenSign", "invalid_choice"),
    ({"signFromBalance": 1}, "/signFromBalance", "invalid_value"),
    ({"minusMeans": "repeats"}, "/minusMeans", "invalid_value"),
    ({"minusMeans": {"debit": "decides"}}, "/minusMeans/debit", "invalid_choice"),
    ({"minusMeans": {"amount": "repeats"}}, "/minusMeans/amount", "unknown_field"),
    ({"accountValues": "Main"}, "/accountValues", "invalid_value"),
]


def pointers(answer):
    return [(each["pointer"], each["code"]) for each in answer.json()["errors"]]


def test_invalid_account_settings_are_rejected(api, bank):
    for given, path, code in BAD:
        body = {"importSettings": {"csv": given}}
        changed, created = (
            api.put(f"accounts/{bank}", body),
            api.post("accounts", {"type": "bank", "name": "New", **body}),
        )
        for answer in (changed, created):
            assert (answer.status_code, pointers(answer)) == (400, [(f"#/importSettings/csv{path}", code)]), given
        assert [row.import_settings for row in Account.objects.all()] == [None], given


def test_account_keeps_settings_of_other_programs(api, bank):
    assert api.put(f"accounts/{bank}", {"importSettings": {"csv": {"delimiter": ";"}}}).status_code == 200
    assert api.get(f"accounts/{bank}").json()["importSettings"] == {"csv": {"delimiter": ";"}}


def test_unknown_request_setting_is_rejected(api, acme, bank):
    content = read_file("12_more_lines_above_than_rows")
    answer = upload_statement(api, content, accountId=bank, importSettings=json.dumps({"csv": {"columnz": {}}}))
    assert (answer.status_code, pointers(answer)) == (400, [("#/importSettings/csv/columnz", "unknown_field")])
    assert list_stored(acme) == []


def test_invalid_request_settings_are_rejected(api, acme, bank):
    content = read_file("12_more_lines_above_than_rows")
    for given, path, code in BAD:
        for body, start in (({"csv": given}, "#/importSettings/csv"), (given, "#/importSettings")):
            answer = upload_statement(api, content, accountId=bank, importSettings=json.dumps(body))
            assert (answer.status_code, pointers(answer)) == (400, [(f"{start}{path}", code)]), given
        assert list_stored(acme) == [], given


def test_every_settings_error_is_reported(api, bank):
    answer = api.put(f"accounts/{bank}", {"importSettings": {"csv": {"flipSign": 1, "columns": {"x": 1, "date": 1.5}}}})
    assert [pointer for pointer, _ in pointers(answer)] == [
        "#/importSettings/csv/flipSign",
        "#/importSettings/csv/columns/x",
        "#/importSettings/csv/columns/date",
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"columns": {"date": 0, "amount": "Sum", "description": ["A", 3], "fee": None}, "headings": ["Day", "Sum"]},
        {"headings": 3, "columns": {"from_to": "Name", "external_id": "Id"}, "decimalSign": ",", "dateOrder": "dmy"},
        {"directionValues": {"in": ["C"], "out": []}, "statusValues": {"leaveOut": ["x"]}, "accountValues": ["Main"]},
        {"encoding": "Windows-1252", "separator": "\t", "skipAbove": 0, "skipBelow": 2, "signFromBalance": False},
    ],
)
def test_documented_and_legacy_settings_are_accepted(given):
    assert list_setting_faults(given) == []


def test_settings_saved_by_page_can_be_sent_back(api, editor_of_bank):
    import_settings = api.get(f"accounts/{editor_of_bank}").json()["importSettings"]
    assert import_settings["csv"]["columns"]
    assert api.put(f"accounts/{editor_of_bank}", {"importSettings": import_settings}).status_code == 200


@pytest.fixture
def editor_of_bank(sign_in_browser, alice, acme, bank):
    from tests.ledger.imports.test_import_pages import confirm_import, open_check_page

    editor = sign_in_browser(alice, acme).client
    confirm_import(editor, open_check_page(editor, acme, bank, read_file("11_padded_preamble"))[0])
    return bank
