"""The largest changes of a monthly report: what changed by category and counterparty, with the rows behind each."""

import re
from html import unescape

import pytest

from tests.analytics.reports.report_pages import build_report_path, read_table
from tests.ledger.conftest import get_page_text as text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("travel_to_may_2026")]


def find_link(answer, label):
    """The address behind a label of the section."""
    html = answer.content.decode()
    section = html[html.index('id="changes-heading"') :]
    found = re.search(rf'<a href="([^"]+)">{re.escape(label)}</a>', section)
    return unescape(found[1]) if found else ""


def list_rows(viewer, link, names):
    """The names that stand in the list behind a link, with how often."""
    listed = viewer.get(link)
    assert listed.status_code == 200
    table = re.search(r"<tbody>(.*?)</tbody>", listed.content.decode(), re.S)[1]
    return {name: table.count(f">{name}<") for name in names if f">{name}<" in table}


def test_changes_are_listed_by_counterparty_with_both_months(acme, viewer, create_categorized_transaction):
    create_categorized_transaction("officeAndAdmin", "ga", "-100.00", "2026-02-12", fromTo="Landlord")
    create_categorized_transaction("officeAndAdmin", "ga", "-300.00", "2026-02-13", fromTo="Furniture Ltd")
    create_categorized_transaction("officeAndAdmin", "ga", "-120.00", "2026-03-12", fromTo="Landlord")
    create_categorized_transaction("officeAndAdmin", "ga", "-50.00", "2026-03-13", fromTo="Landlord Services")
    answer = viewer.get(build_report_path(acme))
    changes = read_table(answer, "changes")
    assert changes["Office and administration General and administration"] == ["-170.00", "-400.00", "+230.00"]
    assert changes["Furniture Ltd"] == ["0.00", "-300.00", "+300.00"]
    assert changes["Landlord"] == ["-120.00", "-100.00", "-20.00"]
    assert changes["Landlord Services"] == ["-50.00", "0.00", "-50.00"]
    names = ["Landlord", "Furniture Ltd", "Landlord Services"]
    assert list_rows(viewer, find_link(answer, "Landlord"), names) == {"Landlord": 2}
    assert list_rows(viewer, find_link(answer, "Furniture Ltd"), names) == {"Furniture Ltd": 1}


def test_changes_of_a_counterparty_count_whatever_the_bank_calls_it(
    acme, viewer, api, books, bank, create_categorized_transaction
):
    vendor = api.post("counterparties", {"type": "vendor", "name": "Cloud"}).json()["id"]
    hosting = books.get_category_id("hosting")
    for day, amount, name in (("2026-02-05", "-80.00", "CLOUD EU 1"), ("2026-03-05", "-90.00", "CLOUD EU 2")):
        row = books.create_transaction(bank, amount, day, fromTo=name)["id"]
        part = {"categoryId": hosting, "plSplit": {"cogs": float(amount)}}
        books.set_categorizations(row, part | {"counterparty": {"type": "vendor", "id": vendor}})
    create_categorized_transaction("hosting", "cogs", "-7.00", "2026-03-06", fromTo="CLOUD EU 2")
    answer = viewer.get(build_report_path(acme))
    changes = read_table(answer, "changes")
    assert changes["Cloud"] == ["-90.00", "-80.00", "-10.00"]
    assert changes["CLOUD EU 2"] == ["-7.00", "0.00", "-7.00"]
    names = ["CLOUD EU 1", "CLOUD EU 2"]
    assert list_rows(viewer, find_link(answer, "Cloud"), names) == {"CLOUD EU 1": 1, "CLOUD EU 2": 1}
    link = find_link(answer, "CLOUD EU 2")
    assert list_rows(viewer, link, names) == {"CLOUD EU 2": 1}
    assert "7.00" in text(viewer.get(link))
    assert "90.00" not in text(viewer.get(link))


def test_month_after_one_without_results_lists_no_changes(acme, viewer, books, bank, create_categorized_transaction):
    """Everything in it would be new."""
    books.create_transaction(bank, "500.00", "2026-02-28")
    for day in ("2026-03-12", "2026-04-12"):
        create_categorized_transaction("officeAndAdmin", "ga", "-30.00", day)
    pages = {month: viewer.get(build_report_path(acme, month)) for month in ("2026-03", "2026-04")}
    assert "The month before has no results to compare with." in text(pages["2026-03"])
    assert 'id="changes-heading"' not in pages["2026-03"].content.decode()
    assert list(read_table(pages["2026-03"], "margin"))[1:] == ["Mar 2026"]
    assert "Nothing has changed from the month before." in text(pages["2026-04"])


def test_smaller_changes_are_added_up(acme, viewer, create_categorized_transaction):
    for day in ("2026-02-12", "2026-03-12"):
        create_categorized_transaction("hosting", "cogs", "-1.00", day)
    for number in range(1, 6):
        create_categorized_transaction("officeAndAdmin", "ga", f"-{number}0.00", "2026-03-12", fromTo=f"Shop {number}")
    changes = read_table(viewer.get(build_report_path(acme, "2026-03")), "changes")
    assert list(changes)[2:] == ["Shop 5", "Shop 4", "Shop 3", "2 others"]
    assert changes["2 others"] == ["-30.00", "0.00", "-30.00"]


def test_counterparties_without_a_change_are_among_the_others_so_that_rows_add_up(
    acme, viewer, create_categorized_transaction
):
    for day in ("2026-02-12", "2026-03-12"):
        create_categorized_transaction("officeAndAdmin", "ga", "-500.00", day, fromTo="Landlord")
    create_categorized_transaction("officeAndAdmin", "ga", "-20.00", "2026-03-13", fromTo="Shop")
    changes = read_table(viewer.get(build_report_path(acme, "2026-03")), "changes")
    assert changes["Office and administration General and administration"] == ["-520.00", "-500.00", "-20.00"]
    assert changes["Shop"] == ["-20.00", "0.00", "-20.00"]
    assert changes["Landlord"] == ["-500.00", "-500.00", "0.00"]


def test_csv_of_changes_has_the_columns_of_the_page(acme, viewer, create_categorized_transaction):
    create_categorized_transaction("officeAndAdmin", "ga", "-100.00", "2026-02-12", fromTo="Landlord")
    create_categorized_transaction("officeAndAdmin", "ga", "-120.00", "2026-03-12", fromTo="Landlord")
    answer = viewer.get(build_report_path(acme), {"table": "changes"})
    lines = answer.content.decode("utf-8-sig").splitlines()
    assert [line.count(",") for line in lines] == [3] * len(lines)
    assert lines[-1].startswith("Landlord,")


def test_categories_link_to_the_rows_of_each_month(acme, viewer, booked_year):
    answer = viewer.get(build_report_path(acme))
    links = [
        unescape(each)
        for each in re.findall(r'href="(/app/companies/[^"]+/transactions\?[^"]*)"', answer.content.decode())
    ]
    february = [link for link in links if "recognizedFrom=2026-02&recognizedTo=2026-02" in link and "plType=ga" in link]
    assert len(february) == 1
    assert "Small landlord" in text(viewer.get(february[0]))


def test_members_without_transactions_see_categories_only(acme, sign_in_browser, booked_year):
    from companies.permissions import Role
    from tests import factories

    reader = factories.make_member(acme, "r@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    changes = read_table(sign_in_browser(reader, acme).client.get(build_report_path(acme)), "changes")
    assert "Landlord" not in changes
    assert "Office and administration General and administration" in changes
