"""The plan typed into a grid: cells, rules, rows copied and cleared, and the last change taken back."""

import re
from datetime import date
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companies.models import AuditEntry
from ledger.money.calc.fx import RateTable
from planning.models import PlanItem
from planning.plan.pages import plan_grid
from tests import factories
from tests.page_text import get_page_text
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
MONTHS = [f"2026-{month:02}" for month in range(1, 13)]
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def build_page_path(company, path="?startMonth=2026-01"):
    return f"/app/companies/{company.id}/plan{path}"


def parse_grid_form(answer):
    """What the grid would send as it is shown, and the name of each row's fields by its key."""
    html = answer.content.decode()
    result = {}
    for tag in re.findall(r"<input[^>]*>", html[html.index("data-plan") :]):
        name, value = re.search(r'name="([^"]*)"', tag)[1], re.search(r'value="([^"]*)"', tag)[1]
        result[name] = unescape(value)
    result.pop("csrfmiddlewaretoken", None)
    return result, {value: name.removeprefix("row") for name, value in result.items() if name.startswith("row")}


def fill_cells(client, company, cells, *, path="?startMonth=2026-01", **more):
    """Types into cells: (category, line, month's place) → text."""
    form, rows = parse_grid_form(client.get(build_page_path(company, path)))
    for (category, line, number), text in cells.items():
        form[f"c{rows[f'{category}:{line}']}-{number}"] = text
    named = {name: rows[row] for name, row in more.items()}
    return client.post(build_page_path(company, path), form | named)


def list_planned(api, category, months=("2026-01", "2026-12")):
    """What the statement of the API says is planned for a category, month by month."""
    rows = api.post("data/profitAndLoss", {"startMonth": months[0], "endMonth": months[1]}).json()
    return {row["month"]: row["planned"] for row in rows if row["categoryId"] == category}


def list_plan_items(api):
    """(month, amount, frequency, duration) of every item of the plan."""
    return sorted(
        (each["month"], each["amount"]["amount"]["value"], each["frequency"], each["duration"])
        for each in api.get("plan_items").json()
    )


def create_growth_rule(api, category, value, **more):
    price = {"type": "fixed", "amount": {"value": value, "currency": "EUR"}}
    body = {"month": "2026-01", "plType": "ga", "categoryId": category, "amount": price} | more
    answer = api.post("plan_items", body)
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def press_undo(client, company, answer):
    """The press on Undo that the next page offers."""
    return client.post(build_page_path(company, "/undo"), parse_undo_form(client, answer), follow=True)


def parse_undo_form(client, answer):
    """What the button would send."""
    html = client.get(answer["Location"]).content.decode()
    return {"changed": unescape(re.search(r'name="changed" value="([^"]+)"', html)[1]), "startMonth": "2026-01"}


# ---------------------------------------------------------------------------------------------- cells


def test_grid_cell_plans_one_month(owner, api, acme, office):
    answer = fill_cells(owner, acme, {(office, "ga", 2): "1200.50", (office, "ga", 3): "+5"})
    assert answer.status_code == 303
    assert list_plan_items(api) == [("2026-03", 1200.5, 0, None), ("2026-04", -5, 0, None)]
    assert list_planned(api, office) == {"2026-03": 1200.5, "2026-04": -5}
    saved = owner.get(answer["Location"])
    assert "2 amounts saved." in get_page_text(saved)
    shown, rows = parse_grid_form(saved)
    row = rows[f"{office}:ga"]
    assert [shown[f"c{row}-{number}"] for number in (1, 2, 3)] == ["", "-1,201", "+5"]


@pytest.mark.parametrize(
    ("language", "shown", "typed"),
    [
        pytest.param("en-GB", "-58,370", "58,400", id="English"),
        pytest.param("de-DE", "-58.370", "58.400", id="German"),
        pytest.param("fr-CH", "-58\u202f370", "58 400", id="spaces"),
        pytest.param("", "-58,370", "58,400", id="unknown locale"),
    ],
)
def test_amounts_are_shown_and_taken_in_groups(owner, api, acme, office, language, shown, typed):
    owner.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    fill_cells(owner, acme, {(office, "ga", 2): "58370"})
    form, rows = parse_grid_form(owner.get(build_page_path(acme, "?startMonth=2026-01")))
    assert form[f"c{rows[f'{office}:ga']}-2"] == shown
    assert fill_cells(owner, acme, {(office, "ga", 2): shown}).status_code == 303
    assert list_planned(api, office) == {"2026-03": 58370}
    assert fill_cells(owner, acme, {(office, "ga", 2): typed}).status_code == 303
    assert list_planned(api, office) == {"2026-03": 58400}


def test_only_changed_cells_are_stored_and_audited(owner, api, acme, office):
    fill_cells(owner, acme, {(office, "ga", 2): "100", (office, "ga", 5): "50"})
    before = AuditEntry.objects.for_company(acme.id).count()
    assert fill_cells(owner, acme, {(office, "ga", 2): "100.00", (office, "ga", 5): "60"}).status_code == 303
    new = AuditEntry.objects.for_company(acme.id).order_by("-id")[
        : AuditEntry.objects.for_company(acme.id).count() - before
    ]
    assert [entry.action for entry in new] == ["planItem.updated"]
    fill_cells(owner, acme, {(office, "ga", 2): "", (office, "ga", 5): "0"})
    assert list_plan_items(api) == []
    assert "No changes to save." in get_page_text(owner.get(fill_cells(owner, acme, {})["Location"]))


def test_cell_stores_difference_to_amounts_from_rules(owner, api, acme, office):
    create_growth_rule(api, office, 100)
    fill_cells(owner, acme, {(office, "ga", 2): "150"})
    assert list_planned(api, office)["2026-03"] == 150
    assert ("2026-03", 50, 0, None) in list_plan_items(api)
    fill_cells(owner, acme, {(office, "ga", 2): "100"})
    assert list_plan_items(api) == [("2026-01", 100, 1, None)]
    fill_cells(owner, acme, {(office, "ga", 2): ""})
    assert list_planned(api, office)["2026-03"] == 0


def test_cell_totals_are_exact_with_other_currencies_and_growth(owner, api, acme, office):
    price = {"type": "relative", "amount": {"value": 99.99, "currency": "USD"}, "relativeChange": 0.0123}
    create_growth_rule(api, office, 0, amount=price)
    fill_cells(owner, acme, {(office, "ga", 4): "123.45", (office, "ga", 5): "1.00"})
    planned = list_planned(api, office)
    assert (planned["2026-05"], planned["2026-06"]) == (123.45, 1)


CELLS = st.dictionaries(st.integers(0, 11), st.sampled_from(["", "0", "1", "33.33", "+7.5", "100"]), max_size=5)


@given(first=CELLS, second=CELLS, rules=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 4)), max_size=3))
@settings(max_examples=4)
def test_grid_undo_restores_earlier_values(db, sign_in_browser, make_api, first, second, rules):
    company = factories.make_company(name="Any")
    client, api = (
        sign_in_browser(factories.make_member(company, "any@any.example", role="owner"), company).client,
        make_api(company),
    )
    category = api.get_category_id("officeAndAdmin")
    for month, frequency in rules:
        create_growth_rule(api, category, 10, month=MONTHS[month], frequency=frequency)
    for cells in (first, second):
        before, stood = list_planned(api, category), list_plan_items(api)
        logged = AuditEntry.objects.for_company(company.id).filter(entity_type="planItem").count()
        answer = fill_cells(client, company, {(category, "ga", number): text for number, text in cells.items()})
        planned = list_planned(api, category)
        for number, month in enumerate(MONTHS):
            typed = cells.get(number, "").replace("+", "-") or "0"  # with a plus sign it is money back
            wanted = float(typed) if number in cells else before.get(month, 0)
            assert planned.get(month, 0) == wanted
        if AuditEntry.objects.for_company(company.id).filter(entity_type="planItem").count() > logged:
            press_undo(client, company, answer)
            assert (list_planned(api, category), list_plan_items(api)) == (before, stood)
            fill_cells(client, company, {(category, "ga", number): text for number, text in cells.items()})


# ---------------------------------------------------------------------------------------------- what is refused


def test_invalid_amount_shows_cell_error_and_nothing_is_stored(owner, api, acme, office, hosting):
    for text, said in [
        ("much", "Enter an amount such as 1234.56."),
        ("1.234", "EUR has 2 decimals. 1.234 has 3."),
        ("1e3", "Enter an amount such as"),
        ("9" * 16, "Enter an amount such as"),
        ("1,23,4", "Enter an amount such as"),
    ]:
        with undo_changes():
            answer = fill_cells(owner, acme, {(office, "ga", 2): "100", (hosting, "cogs", 3): text})
            assert answer.status_code == 400, text
            assert list_plan_items(api) == [], text
            html = answer.content.decode()
            name = f"c{parse_grid_form(answer)[1][f'{hosting}:cogs']}-3"
            assert said in re.search(rf'id="{name}-error">([^<]+)<', html)[1], text
            shown = parse_grid_form(answer)[0]
            assert (shown[name], shown[f"c{parse_grid_form(answer)[1][f'{office}:ga']}-2"]) == (text, "100"), (
                "what was typed stays"
            )
            assert owner.post(build_page_path(acme), shown | {name: "7"}).status_code == 303, text
            assert len(list_plan_items(api)) == 2, text


def test_difference_beyond_amount_limit_is_rejected(owner, api, acme, office):
    create_growth_rule(api, office, -999999999999999)
    answer = fill_cells(owner, acme, {(office, "ga", 2): "999999999999999"})
    assert (answer.status_code, "The value is too large." in get_page_text(answer)) == (400, True)


def test_concurrently_changed_cell_is_reported_and_not_overwritten(owner, api, acme, office):
    form, rows = parse_grid_form(owner.get(build_page_path(acme)))
    row = rows[f"{office}:ga"]
    create_growth_rule(api, office, 40, frequency=0, month="2026-02")
    answer = owner.post(build_page_path(acme), form | {f"c{row}-1": "70", f"c{row}-2": "80"})
    assert answer.status_code == 400
    assert "This value was changed in the meantime. Review it and save again." in get_page_text(answer)
    assert list_plan_items(api) == [("2026-02", 40, 0, None)]
    again, rows = parse_grid_form(answer)
    assert (again[f"c{row}-1"], again[f"was{row}"].split("_")[1]) == ("70", "40.00")
    assert owner.post(build_page_path(acme), again).status_code == 303
    assert list_planned(api, office) == {"2026-02": 70, "2026-03": 80}


def test_grid_keeps_other_users_cells(owner, api, acme, office):
    form, rows = parse_grid_form(owner.get(build_page_path(acme)))
    create_growth_rule(api, office, 40, frequency=0, month="2026-02")
    assert owner.post(build_page_path(acme), form | {f"c{rows[f'{office}:ga']}-2": "80"}).status_code == 303
    assert list_planned(api, office) == {"2026-02": 40, "2026-03": 80}


def test_rows_of_other_companies_and_invalid_lines_are_rejected(owner, api, globex_api, acme, office):
    foreign = globex_api.get("categories").json()[0]["id"]
    for key in (f"{foreign}:revenue", f"{UNKNOWN_ID}:ga", f"{office}:cogs"):
        answer = owner.post(build_page_path(acme), {"row0": key, "was0": "", "c0-1": "5"})
        assert answer.status_code == 400, key
        assert "Nothing was saved" in get_page_text(answer)
    assert owner.post(build_page_path(acme), {"row0": "x", "c0-1": "5"}).status_code == 303, "no row at all"
    assert not PlanItem.objects.exists()


def test_grid_form_sent_twice_is_applied_once(owner, api, acme, office):
    form, rows = parse_grid_form(owner.get(build_page_path(acme)))
    form[f"c{rows[f'{office}:ga']}-2"] = "80"
    assert owner.post(build_page_path(acme), form).status_code == 303
    again = owner.post(build_page_path(acme), form)
    assert again.status_code == 400
    assert len(list_plan_items(api)) == 1


def test_full_grid_page_stays_within_form_size_limit(owner, api, acme, settings):
    for number in range(70):
        api.post("categories", {"name": f"Category {number:02}", "plTypes": ["ga"]})
    form, rows = parse_grid_form(owner.get(build_page_path(acme)))
    assert len(rows) == plan_grid.ROWS_PER_PAGE
    long = {name: "-999999999999999.99" for name in form if name.startswith("c")}
    was = {name: "_".join(["-999999999999999.99"] * 12) for name in form if name.startswith("was")}
    body = "&".join(f"{name}={value}" for name, value in (form | long | was).items())
    assert len(body.replace(":", "%3A")) < settings.MAX_FORM_BYTES
    assert "Category 69" in get_page_text(owner.get(build_page_path(acme, "?startMonth=2026-01&page=2")))


# ---------------------------------------------------------------------------------------------- what is shown


def test_grid_is_read_only_without_write_permission(viewer, api, acme, office):
    create_growth_rule(api, office, 100)
    html = viewer.get(build_page_path(acme)).content.decode()
    assert "data-plan" in html
    assert "<input" not in html[html.index("data-plan") :].replace("csrfmiddlewaretoken", "").split("<table>")[1]
    assert "General and administration" in html
    assert "-1,200" in html
    assert viewer.post(build_page_path(acme), {}).status_code == 403


def test_invalid_month_shows_current_year_with_a_message(viewer, owner, acme):
    last = date.today().year + 50
    for month, text in (
        ("soon", "“soon” is not a valid month"),
        *(
            (month, f"The plan covers 1900 to {last}. Showing this year.")
            for month in ("0001-01", "1899-12", f"{last}-02", "9999-12")
        ),
    ):
        shown = get_page_text(viewer.get(build_page_path(acme, f"?startMonth={month}")))
        assert f"Plan from January {date.today().year}" in shown
        assert text in shown
        assert owner.post(build_page_path(acme, f"?startMonth={month}"), {}).status_code == 404, (
            "no form was shown of it"
        )
    for month, neighbour in (("1900-01", "Previous year"), (f"{last}-01", "Next year")):
        shown = viewer.get(build_page_path(acme, f"?startMonth={month}"))
        assert (shown.status_code, neighbour in get_page_text(shown)) == (200, False)
    for number in ("0", "x", "-1"):
        assert viewer.get(build_page_path(acme, f"?page={number}")).status_code == 400


def test_missing_rate_shows_a_message(owner, api, acme, office, monkeypatch):
    create_growth_rule(api, office, 0, amount={"type": "fixed", "amount": {"value": 5, "currency": "USD"}})
    monkeypatch.setattr(plan_grid, "get_rate_table", lambda: RateTable([]))
    assert "No exchange rate for USD" in get_page_text(owner.get(build_page_path(acme)))


def test_grid_queries_do_not_grow_with_items(owner, api, acme, office, django_assert_max_num_queries):
    for number in range(30):
        create_growth_rule(api, office, number, month=MONTHS[number % 12])
    owner.get(build_page_path(acme))
    with django_assert_max_num_queries(25):
        owner.get(build_page_path(acme))


@pytest.mark.parametrize("changed", ["9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59", "2026", ""])
def test_invalid_undo_timestamp_undoes_nothing(owner, acme, changed):
    answer = owner.post(f"/app/companies/{acme.id}/plan/undo", {"changed": changed, "startMonth": "2026-01"})
    assert answer.status_code in (303, 409)


# ---------------------------------------------------------------------------------------------- signs, units, subtotals


def test_amount_in_a_row_of_costs_is_a_cost_with_minus_or_without_sign(owner, api, acme, office):
    for text, planned in [
        ("-250", 250),
        ("(250)", 250),
        ("(−250)", 250),
        ("250", 250),
        ("−250", 250),
        ("+250", -250),
        ("", 0),
    ]:
        fill_cells(owner, acme, {(office, "ga", 0): "7"})
        fill_cells(owner, acme, {(office, "ga", 0): text})
        assert list_planned(api, office).get("2026-01", 0) == planned, text


def test_costs_are_shown_negative_and_can_be_sent_back_unchanged(owner, api, acme, office):
    fill_cells(owner, acme, {(office, "ga", 0): "250.40", (office, "ga", 1): "+12.60"})
    before = list_planned(api, office)
    for query in ("unit=cents&negative=parentheses", "unit=cents&negative=minus", "unit=whole"):
        path = f"?startMonth=2026-01&{query}"
        form, rows = parse_grid_form(owner.get(build_page_path(acme, path)))
        place = rows[f"{office}:ga"]
        shown = [form[f"c{place}-{number}"] for number in (0, 1)]
        expected = {
            "unit=cents&negative=parentheses": ["(250.40)", "+12.60"],
            "unit=cents&negative=minus": ["-250.40", "+12.60"],
            "unit=whole": ["-250", "+13"],
        }
        assert shown == expected[query]
        owner.post(build_page_path(acme, path), form)
        assert list_planned(api, office) == before


def read_plan_rows(answer):
    """Name → texts of the cells of lines and subtotals."""
    result = re.findall(r'<tr class="kind-(?:line|sum)"><th [^>]*>(.*?)</th>(.*?)</tr>', answer.content.decode())
    return {unescape(name): re.findall(r"<td>(.*?)</td>", cells)[:13] for name, cells in result}


def test_plan_has_subtotals_and_csv_download(owner, api, acme, office, hosting):
    recurring = api.get_category_id("revenueRecurring")
    cells = {(recurring, "revenue", 0): "1000", (hosting, "cogs", 0): "300.50", (office, "ga", 0): "200"}
    fill_cells(owner, acme, cells)
    rows = read_plan_rows(owner.get(build_page_path(acme)))
    assert [(name, rows[name][0], rows[name][-1]) for name in ("Gross profit", "Operating result", "Result")] == [
        ("Gross profit", "700", "700"),
        ("Operating result", "500", "500"),
        ("Result", "500", "500"),
    ]
    assert rows["Cost of revenue"][0] == "-301"
    text = owner.get(build_page_path(acme, ".csv?startMonth=2026-01")).content.decode()
    lines = {line.split(",")[0]: line.strip().split(",") for line in text.splitlines()}
    assert lines["Category"][1::12] == ["Jan 2026", "Total"]
    assert lines["Operating result"][1] == lines["Operating result"][-1] == "499.50"
    assert lines["Hosting"][1] == "-300.50"


def test_thousands_are_for_reading_only(owner, acme, office):
    fill_cells(owner, acme, {(office, "ga", 0): "2500"})
    answer = owner.get(build_page_path(acme, "?startMonth=2026-01&unit=thousands"))
    assert read_plan_rows(answer)["Result"][0] == "-2.5"
    assert b'name="c0-0"' not in answer.content
