"""Import of a plan from a spreadsheet: upload or paste, review with a category for each row, import and undo."""

import io
import re
from datetime import date
from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from companies.models import AuditEntry
from ledger.models import Category
from planning.models import PlanItem
from tests import factories
from tests.page_text import get_page_text
from tests.planning.plan.test_plan_grid import create_growth_rule, fill_cells, list_plan_items, list_planned, press_undo

pytestmark = pytest.mark.django_db
LEAD_FILE = Path(__file__).parents[2] / "data/plan/plan-q4-2026.csv"


def build_import_path(company):
    return f"/app/companies/{company.id}/plan/import"


def upload(client, company, content, name="plan.csv"):
    content = content.encode() if isinstance(content, str) else content
    return client.post(build_import_path(company), {"file": SimpleUploadedFile(name, content)})


def paste(client, company, text):
    return client.post(build_import_path(company), {"cells": text})


def open_review(client, answer):
    """The address and the page of the review."""
    assert answer.status_code == 303, get_page_text(answer)
    return answer["Location"], client.get(answer["Location"])


def parse_choices(answer):
    """(name, field, chosen option) of each row of a review."""
    rows = re.findall(r'<th scope="row">(.*?)</th>', answer.content.decode(), re.S)
    result = {}
    for html in rows:
        chosen = re.search(r'<option value="([^"]*)" selected', html)
        name = unescape(html.partition("<")[0]).strip()
        result[name] = re.search(r'name="(row\d+)"', html)[1], chosen[1] if chosen else ""
    return result


def build_form(answer, **choices):
    """What the form of a review sends, with other choices by the name of the row."""
    html = answer.content.decode()
    form = {name: re.search(f'name="{name}" value="([^"]*)"', html)[1] for name in ("reviewed", "once")}
    for name, (field, chosen) in parse_choices(answer).items():
        form[field] = choices.get(name, chosen)
    return form


def import_plan(client, answer, **choices):
    """Choose and import; return the answer."""
    path, shown = open_review(client, answer)
    return client.post(path, build_form(shown, **choices))


def build_workbook(rows):
    book, content = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(content)
    return content.getvalue()


# ---------------------------------------------------------------------------------------------- import


def test_plan_page_leads_to_the_import(owner, acme):
    assert build_import_path(acme) in owner.get(f"/app/companies/{acme.id}/plan").content.decode()
    shown = owner.get(build_import_path(acme))
    assert 'name="file"' in shown.content.decode()
    assert 'name="cells"' in shown.content.decode()


def test_german_file_is_reviewed_and_imported_with_new_categories(owner, api, acme, hosting):
    path, shown = open_review(owner, upload(owner, acme, LEAD_FILE.read_bytes()))
    choices = parse_choices(shown)
    assert choices["Hosting"][1] == f"{hosting}:cogs"
    assert (choices["Miete"][1], choices["Erlöse Projekte"][1]) == ("new:ga", "new:revenue")
    assert choices["Freelancer"][1] == "new:pd"
    refused = owner.post(path, build_form(shown))
    assert refused.status_code == 400
    assert "Choose a category or leave out the row." in get_page_text(refused)
    assert not PlanItem.objects.exists()
    wanted = {"Freelancer": "new:cogs", "Beratung": "new:ga", "Bürobedarf": "leaveOut"}
    assert "0.00 → -4,300.00" in get_page_text(refused), "a cost is shown negative"
    assert not Category.objects.for_company(acme.id).filter(name="Miete").exists(), "nothing is stored before"
    done = owner.post(path, build_form(refused, **wanted), follow=True)
    assert done.redirect_chain[-1][0].endswith("/plan?startMonth=2026-01")
    assert "39 amounts imported." in get_page_text(done)
    rent = next(row for row in api.get("categories").json() if row["name"] == "Miete")
    assert rent["plTypes"] == ["ga"]
    assert list_planned(api, rent["id"]) == {f"2026-{month}": 4300 for month in (10, 11, 12)}
    projects = next(row for row in api.get("categories").json() if row["name"] == "Erlöse Projekte")
    assert list_planned(api, projects["id"]) == {"2026-10": 48000, "2026-11": 50000, "2026-12": 46000}
    again = owner.post(path, build_form(refused, **wanted), follow=True)
    assert "has expired" in get_page_text(again)


def test_import_is_undone_and_new_categories_stay(owner, api, acme, hosting):
    fill_cells(owner, acme, {(hosting, "cogs", 9): "100"})
    before = list_plan_items(api)
    done = import_plan(owner, upload(owner, acme, "Category,2026-10\nHosting,250\nRent,900\n"))
    assert list_planned(api, hosting) == {"2026-10": 250}
    assert "Change undone." in get_page_text(press_undo(owner, acme, done))
    assert list_plan_items(api) == before
    assert Category.objects.for_company(acme.id).filter(name="Rent").exists()


def test_import_saves_the_total_of_a_month_and_keeps_its_plan_items(owner, api, acme, office):
    create_growth_rule(api, office, 100)
    import_plan(owner, upload(owner, acme, "Category,2026-03\nOffice and administration,150\n"))
    assert list_plan_items(api) == [("2026-01", 100, 1, None), ("2026-03", 50, 0, None)]


def test_only_changed_amounts_are_stored_and_logged(owner, api, acme, office):
    fill_cells(owner, acme, {(office, "ga", 0): "100", (office, "ga", 1): "100", (office, "ga", 2): "7"})
    before = AuditEntry.objects.for_company(acme.id).count()
    table = "Category,2026-01,2026-02,2026-03\nOffice and administration,100,120,\n"
    path, shown = open_review(owner, upload(owner, acme, table))
    assert "Amounts that change 1 " in get_page_text(shown)
    assert "-100.00 → -120.00" in get_page_text(shown)
    owner.post(path, build_form(shown))
    assert list_planned(api, office) == {"2026-01": 100, "2026-02": 120, "2026-03": 7}
    assert AuditEntry.objects.for_company(acme.id).count() == before + 1


def test_cells_of_a_spreadsheet_are_pasted(owner, api, acme, hosting):
    text = "Account\tOkt. 2026\tNov. 2026\tTotal\r\nHosting\t1,234,567.50\t1,000,000.00\t2,234,567.50\r\n"
    import_plan(owner, paste(owner, acme, text))
    assert list_planned(api, hosting) == {"2026-10": 1234567.5, "2026-11": 1000000}


def test_workbook_with_dates_as_headings_is_imported(owner, api, acme, hosting):
    rows = [["Budget"], ["", date(2026, 10, 1), date(2026, 11, 30)], ["hosting ", 1000 / 3, "-"]]
    import_plan(owner, upload(owner, acme, build_workbook(rows), "plan.xlsx"))
    assert list_planned(api, hosting) == {"2026-10": 333.33}


@pytest.mark.parametrize(
    ("table", "planned"),
    [
        ("Category,2026,,2027\n,Nov,Dec,Jan\nHosting,-1,-2,-3\n", {"2026-11": 1, "2026-12": 2, "2027-01": 3}),
        ("Budget 2026,,\nKategorie,November,Dezember\nHosting,-1,-2\n", {"2026-11": 1, "2026-12": 2}),
        (",,2026\nCategory,Jan 2025,Jan\nHosting,-1,-2\n", {"2025-01": 1, "2026-01": 2}),
    ],
    ids=["years above months", "year in the title", "years of some months"],
)
def test_years_stand_above_the_months(owner, api, acme, hosting, table, planned):
    import_plan(owner, upload(owner, acme, table))
    assert list_planned(api, hosting, ("2025-01", "2027-12")) == planned


def test_rows_of_one_new_name_share_a_category(owner, api, acme):
    table = "Category,2026-10\nCost of revenue,\nSalaries,5\nGeneral and administration,\nSalaries,7\n"
    path, shown = open_review(owner, upload(owner, acme, table))
    html = shown.content.decode()
    assert "New categories 1 Rows left out 2" in get_page_text(shown)
    fields = re.findall(r'name="(row\d+)"', html)
    chosen = re.findall(r'value="(new:\w+)" selected', html)
    assert chosen == ["new:cogs", "new:ga"], "the headings prove the lines"
    form = {name: re.search(f'name="{name}" value="([^"]*)"', html)[1] for name in ("reviewed", "once")}
    owner.post(path, form | dict(zip(fields, chosen, strict=True)))
    salaries = Category.objects.for_company(acme.id).get(name="Salaries")
    assert salaries.pl_types == ["cogs", "ga"]
    assert list_plan_items(api) == [("2026-10", 5, 0, None), ("2026-10", 7, 0, None)]
    assert salaries.order > max(
        Category.objects.for_company(acme.id).exclude(id=salaries.id).values_list("order", flat=True)
    )


def test_number_of_queries_does_not_depend_on_the_rows(owner, acme):
    counts = []
    for rows in (1, 1, 100):
        table = "Category,2026-10\nHosting,5\n" + "".join(f"Cost center {number},7\n" for number in range(rows))
        answer = upload(owner, acme, table)
        with CaptureQueriesContext(connection) as queries:
            open_review(owner, answer)
        counts.append(len(queries))
    assert counts[1] == counts[2]  # the first fills caches


# ---------------------------------------------------------------------------------------------- own export


CELLS = st.dictionaries(
    st.tuples(st.sampled_from(["hosting", "office", "revenue", "several"]), st.integers(0, 11)),
    st.sampled_from(["-5", "12.50", "+7.5", "1,000", "-1,234.56"]),
    max_size=8,
)


@given(cells=CELLS, language=st.sampled_from(["en", "de"]), emoji=st.sampled_from([None, "🧪"]))
@settings(max_examples=10)
def test_own_export_is_imported_without_changes(db, sign_in_browser, make_api, make_category, cells, language, emoji):
    company = factories.make_company(name="Any")
    member = factories.make_member(company, "any@any.example", role="owner")
    client, api = sign_in_browser(member, company).client, make_api(company)
    several = make_category(company, name="Umsatz", pl_types=["revenue", "ga", "no"], emoji=emoji)
    keys = {row["systemKey"]: row["id"] for row in api.get("categories").json()}
    rows = {
        "hosting": [(keys["hosting"], "cogs")],
        "office": [(keys["officeAndAdmin"], "ga")],
        "revenue": [(keys["revenueOther"], "revenue")],
        "several": [(str(several.id), line) for line in ("revenue", "ga", "no")],
    }
    typed = {(*row, month): text for (name, month), text in cells.items() for row in rows[name]}
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en-GB"
    fill_cells(client, company, typed)
    before = list_plan_items(api)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    exported = client.get(f"/app/companies/{company.id}/plan.csv?startMonth=2026-01").getvalue()
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    path, shown = open_review(client, upload(client, company, exported))
    text = get_page_text(shown)
    assert "Amounts that change 0 New categories 0" in text
    assert "Columns left out: " + ("Total" if language == "en" else "Summe") in text
    done = client.post(path, build_form_in_order(shown), follow=True)
    assert "The plan has these amounts already." in get_page_text(done)
    assert list_plan_items(api) == before


def build_form_in_order(answer):
    """What the form sends where several rows have one name; every row must have a choice."""
    html = answer.content.decode()
    form = {name: re.search(f'name="{name}" value="([^"]*)"', html)[1] for name in ("reviewed", "once")}
    for select in re.findall(r"<select.*?</select>", html, re.S):
        form[re.search(r'name="(row\d+)"', select)[1]] = re.search(r'<option value="([^"]+)" selected', select)[1]
    return form


def test_sum_rows_of_own_export_are_left_out_and_listed(owner, acme, hosting):
    fill_cells(owner, acme, {(hosting, "cogs", 9): "100"})
    owner.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    exported = owner.get(f"/app/companies/{acme.id}/plan.csv?startMonth=2026-01").getvalue()
    owner.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    _, shown = open_review(owner, upload(owner, acme, exported))
    assert "Rows left out: Umsatz, Herstellungskosten, Rohertrag, " in get_page_text(shown)


# ---------------------------------------------------------------------------------------------- signs


@pytest.mark.parametrize(
    ("written", "planned"),
    [("500", 500), ("-500", 500), ("(500)", 500), ("+500", -500), ("500-", 500)],
)
def test_cost_without_a_plus_sign_is_a_cost(owner, api, acme, hosting, written, planned):
    import_plan(owner, upload(owner, acme, f"Category,2026-10\nHosting,{written}\nOther revenue,-3\n"))
    assert list_planned(api, hosting) == {"2026-10": planned}


def test_subtotal_proves_that_a_cost_without_sign_is_a_refund(owner, api, acme, hosting):
    table = "Category,2026-10,2026-11\nOther revenue,1000,1000\nHosting,-400,50\nGross profit,600,{}\n"
    import_plan(owner, upload(owner, acme, table.format(1050)))
    assert list_planned(api, hosting) == {"2026-10": 400, "2026-11": -50}
    import_plan(owner, upload(owner, acme, table.format(950)))
    assert list_planned(api, hosting) == {"2026-10": 400, "2026-11": 50}


# ---------------------------------------------------------------------------------------------- questions and errors


def test_ambiguous_decimal_mark_is_asked(owner, api, acme, hosting):
    path, shown = open_review(owner, upload(owner, acme, "Category;2026-10\nHosting;1.234\n"))
    text = get_page_text(shown)
    assert "Decimal point: “1.234” is 1.234" in text
    assert "Decimal comma: “1.234” is 1,234" in text
    assert "reviewed" not in shown.content.decode()
    owner.post(f"{path}&decimalMark=comma", build_form(owner.get(f"{path}&decimalMark=comma")))
    assert list_planned(api, hosting) == {"2026-10": 1234}
    refused = owner.get(f"{path}&decimalMark=point")
    assert "has expired" in get_page_text(owner.get(refused["Location"]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a,b\n1,2\n", "No column is named after a month"),
        ("Category,Oct,Nov\nHosting,1,2\n", "No column is named after a month"),
        ("Category,2026,,\n,Nov,Dec,Jan\nHosting,1,2,3\n", "“Jan 2026” is right of a later month."),
        (",2026,\nCategory,Jan 2027,Feb\nHosting,1,2\n", "“Feb 2026” is right of a later month."),
        ("Budget as of 2026-01-02\nCategory,Oct,Nov\nHosting,1,2\n", "No column is named after a month"),
        ("Budget 2026 (actual 2025)\nCategory,Oct,Nov\nHosting,1,2\n", "No column is named after a month"),
        ("Budget 2026\nCategory,Oct,Oct 2026\nHosting,1,2\n", "The columns “Oct 2026” and “Oct 2026” are"),
        ("Category,2026-10,Oct 2026\nHosting,1,2\n", "The columns “2026-10” and “Oct 2026” are the same month."),
        ("2026-10,2026-11\n1,2\n", "No column with categories found."),
        ("Category,2026-10\n", "The file has headings but no rows."),
        ("Category,2026-10\n" + "Hosting,1\n" * 201, "The plan has more than 200 rows."),
        (
            ",".join(["Category", *(f"{year}-{month}" for year in range(2020, 2026) for month in range(1, 13))])
            + "\nx,1\n",
            "The plan has more than 60 months.",
        ),
        ("Category,2099-01\nHosting,1\n", "The plan covers 1900 to"),
        ("in TEUR,2026-10\nHosting,1\n", "import the plan in full amounts"),
        ("Category,2026-10\nHosting,1,5\n", "Line 2 has more cells than headings."),
    ],
    ids=[
        "no months",
        "no year",
        "year change",
        "year before",
        "date of the plan",
        "two years",
        "month with and without year",
        "month twice",
        "no names",
        "no rows",
        "rows",
        "months",
        "far years",
        "thousands",
        "wide row",
    ],
)
def test_unusable_table_is_explained_on_the_form(owner, acme, table, message):
    answer = upload(owner, acme, table)
    assert answer.status_code == 400
    assert message in get_page_text(answer)


def test_form_needs_a_file_or_cells(owner, acme):
    assert "Select a file." in get_page_text(owner.post(build_import_path(acme), {"cells": " \n"}))
    both = {"file": SimpleUploadedFile("a.csv", b"a"), "cells": "b\t2026-10"}
    answer = owner.post(build_import_path(acme), both)
    assert "Choose a file or paste cells, not both." in get_page_text(answer)
    assert "b\t2026-10</textarea>" in answer.content.decode(), "what was pasted stays"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "Category,2026-10,Nov 2026\nHosting,1,2\nRent,3,four\n",
            "Line 3, Rent, column Nov 2026: “four” is not an amount",
        ),
        (
            "Category,2026-10\nHosting,1.005\nRent,2.50\n",
            "Line 2, Hosting, column 2026-10: “1.005” has too many decimals.",
        ),
        ("Category,2026-10\nHosting,5 USD\n", "Line 2, Hosting, column 2026-10: “5 USD” is not in EUR."),
        ("Category,2026-10\nHosting,5\n,7\n", "Line 3, –, column Category: The category is missing."),
        (f"Category,2026-10\n{'x' * 201},5\n", "column Category: The text is too long."),
    ],
    ids=["garbled", "decimals", "currency", "no name", "long name"],
)
def test_unreadable_cell_is_named_by_line_and_column(owner, acme, table, message):
    _, shown = open_review(owner, upload(owner, acme, table))
    assert shown.status_code == 400
    assert message in get_page_text(shown)
    assert "reviewed" not in shown.content.decode()


def test_rows_of_one_category_and_month_are_refused(owner, acme, hosting):
    path, shown = open_review(owner, upload(owner, acme, "Category,2026-10\nHosting,5\nServers,7\n"))
    refused = owner.post(path, build_form(shown, Servers=f"{hosting}:cogs"))
    assert refused.status_code == 400
    assert "Lines 2 and 3 have the same category and month: “Hosting” and “Servers”." in get_page_text(refused)
    assert owner.post(path, build_form(refused)).status_code == 400
    assert not PlanItem.objects.exists()


def test_rows_of_one_category_and_different_months_are_imported(owner, api, acme, hosting):
    table = "Category,2026-10,2026-11\nHosting,5,\nServers,,7\n"
    import_plan(owner, upload(owner, acme, table), Servers=f"{hosting}:cogs")
    assert list_planned(api, hosting) == {"2026-10": 5, "2026-11": 7}


def test_import_takes_the_choices_on_the_form(owner, api, acme, hosting, office):
    table = "Category,2026-10\nHosting,5\nOffice and administration,7\n"
    path, shown = open_review(owner, upload(owner, acme, table))
    assert "Update review" not in get_page_text(shown)
    form = build_form(shown, **{"Hosting": f"{office}:ga", "Office and administration": "leaveOut"})
    assert owner.post(path, form).status_code == 303
    assert (list_planned(api, office), list_planned(api, hosting)) == ({"2026-10": 5}, {})


def test_change_of_the_plan_since_the_review_is_shown_first(owner, api, acme, hosting):
    path, shown = open_review(owner, upload(owner, acme, "Category,2026-10\nHosting,5\n"))
    create_growth_rule(api, hosting, 40, plType="cogs", month="2026-10", frequency=0)
    again = owner.post(path, build_form(shown))
    assert again.status_code == 200
    assert "-40.00 → -5.00" in get_page_text(again)
    assert list_planned(api, hosting) == {"2026-10": 40}


def test_own_category_whose_name_says_more_is_found_for_one_row(owner, acme, hosting, make_category):
    names = ("Beratung und Dienstleistungen", "Miete Lager", "Miete Büro", "Hosting Kunden", "Reisen und Messen")
    ids = {name: make_category(acme, name=name, pl_types=["ga"]).id for name in names}
    rows = ("Beratung", "Dienstleistungen", "Miete", "Hosting", "Reisen", "Reisen und Messen")
    table = "Category,2026-10\n" + "".join(f"{name},{number}\n" for number, name in enumerate(rows, 1))
    choices = {
        name: chosen for name, (_, chosen) in parse_choices(open_review(owner, upload(owner, acme, table))[1]).items()
    }
    assert choices == {
        "Beratung": f"{ids['Beratung und Dienstleistungen']}:ga",
        "Dienstleistungen": "",
        "Miete": "new:ga",
        "Hosting": f"{hosting}:cogs",
        "Reisen": "new:ga",
        "Reisen und Messen": f"{ids['Reisen und Messen']}:ga",
    }


def test_name_of_two_categories_is_asked(owner, acme, make_category):
    make_category(acme, name="HOSTING", pl_types=["ga"])
    _, shown = open_review(owner, upload(owner, acme, "Category,2026-10\nHosting,5\n"))
    assert parse_choices(shown)["Hosting"][1] == ""
    assert "new:ga" not in shown.content.decode(), "a known name is not created again"


def test_difference_beyond_the_limit_is_refused(owner, api, acme, office):
    create_growth_rule(api, office, -999999999999999)
    table = "Category,2026-10\nOffice and administration,999999999999999\n"
    path, shown = open_review(owner, upload(owner, acme, table))
    answer = owner.post(path, build_form(shown))
    assert (answer.status_code, "The value is too large." in get_page_text(answer)) == (400, True)


# ---------------------------------------------------------------------------------------------- access


def test_readers_and_other_companies_cannot_import(owner, viewer, acme, globex, sign_in_browser, carol):
    assert viewer.get(build_import_path(acme)).status_code == 403
    assert build_import_path(acme) not in viewer.get(f"/app/companies/{acme.id}/plan").content.decode()
    path, shown = open_review(owner, upload(owner, acme, "Category,2026-10\nHosting,5\n"))
    assert viewer.get(path).status_code == 403
    other = sign_in_browser(carol, globex).client
    assert (other.get(path).status_code, other.post(path, build_form(shown)).status_code) == (404, 404)
    own = path.replace(str(acme.id), str(globex.id))
    assert "has expired" in get_page_text(other.get(own, follow=True))
    assert not PlanItem.objects.exists()


def test_categories_of_other_companies_cannot_be_chosen(owner, globex_api, acme):
    foreign = globex_api.get("categories").json()[0]["id"]
    path, shown = open_review(owner, upload(owner, acme, "Category,2026-10\nHosting,5\n"))
    for choice in (f"{foreign}:revenue", "new:ga", "new:neutral", "x"):
        assert owner.post(path, build_form(shown, Hosting=choice)).status_code == 400, choice


def test_categories_are_created_only_with_the_permission(acme, sign_in_browser):
    member = factories.make_member(
        acme, "plan@acme.example", permissions=["planning:read", "planning:write", "categories:read"]
    )
    client = sign_in_browser(member, acme).client
    path, shown = open_review(client, upload(client, acme, "Category,2026-10\nRent,5\n"))
    assert "new:ga" not in shown.content.decode()
    assert client.post(path, build_form(shown, Rent="new:ga")).status_code == 400
    assert not Category.objects.for_company(acme.id).filter(name="Rent").exists()


# ---------------------------------------------------------------------------------------------- language


def test_german_pages_and_messages(owner, acme, office):
    owner.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    assert "Plan importieren" in get_page_text(owner.get(build_import_path(acme)))
    answer = upload(owner, acme, "Kategorie;Oktober 2026\nBüro und Verwaltung;1.200,50\n")
    path, shown = open_review(owner, answer)
    assert "0,00 → -1.200,50" in get_page_text(shown)
    done = owner.post(path, build_form(shown), follow=True)
    assert "1 Betrag importiert." in get_page_text(done)
