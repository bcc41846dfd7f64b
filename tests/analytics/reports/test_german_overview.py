"""The overview and what is told beside it, in German."""

import io
import re
from datetime import date
from decimal import Decimal

import openpyxl
import pytest
from django.test import Client
from django.utils import timezone, translation

from analytics.charts import profit_and_loss_sections, recurring_revenue_sections
from analytics.charts.amount_format import format_axis_amount, format_compact_amount
from analytics.reports.period_headings import format_period_heading
from companies.locales import LANGUAGES, get_locale, use_locale
from companies.models import AuditContext
from notifications import notify
from tests.analytics.reports.test_overview import find_section, get_overview
from tests.run_date import TODAY

LABEL_TABLES = (
    recurring_revenue_sections.END_LABELS,
    recurring_revenue_sections.SHORT_LABELS,
    profit_and_loss_sections.SHORT_LINE_LABELS,
    translation.gettext_lazy("Figure, This period, Change"),
    translation.gettext_lazy("Account, Balance, Change"),
    translation.gettext_lazy("T, B, M, k"),
)
GERMAN = {"Accept-Language": "de-DE,de;q=0.9,en;q=0.5"}


def test_translated_name_lists_have_same_length_in_every_language():
    for language in LANGUAGES:
        for names in LABEL_TABLES:
            count = len(names.split(", "))
            with translation.override(language):
                assert len(names.split(", ")) == count, (language, names)


def test_period_heading_uses_reader_language():
    days = {"first": date(2024, 2, 1), "last": date(2024, 11, 22)}
    with use_locale(get_locale("de")):
        assert format_period_heading(date(2024, 3, 1), "month", **days) == "Mär 2024"
        assert format_period_heading(date(2024, 1, 1), "quarter", **days) == "Q1 2024, ab 01.02.2024"
        assert format_period_heading(date(2024, 1, 1), "year", **days) == "2024, 01.02.2024 bis 22.11.2024"


def test_compact_amounts_use_reader_language_and_axis_omits_currency():
    with use_locale(get_locale("de")):
        short = [format_compact_amount(Decimal(size), "EUR") for size in (12_500, 1_020_000, -12_300_000_000)]
        assert short == ["12,5\u202fTsd.\xa0€", "1,02\u202fMio.\xa0€", "−12,3\u202fMrd.\xa0€"]
        assert format_axis_amount(Decimal(-1_500_000), "EUR") == "−1,5\u202fMio."


def get_german_page(user, path):
    client = Client(headers=GERMAN)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get(path)
    assert answer.status_code == 200
    return b"".join(answer) if answer.streaming else answer.content.decode()


@pytest.mark.django_db
def test_overview_cache_is_separate_by_language(api, alice, acme, books):
    books.create_account()
    path = f"/app/companies/{acme.id}"
    assert ">Cash balance</h2>" in get_overview(alice, acme)
    shown = get_german_page(alice, path)
    assert ">Liquiditätsverlauf</h2>" in shown
    assert ">Cash balance</h2>" not in shown
    assert ">Cash balance</h2>" in get_overview(alice, acme)


@pytest.mark.django_db
def test_page_workbook_uses_page_language_and_api_workbook_english(api, alice, acme, books):
    row = books.create_transaction(books.create_account(), "-5.00", str(TODAY))["id"]
    assert (
        books.set_categorizations(
            row, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -5.0}}
        ).status_code
        == 200
    )
    shown = openpyxl.load_workbook(
        io.BytesIO(get_german_page(alice, f"/app/companies/{acme.id}/profit-and-loss.xlsx")), data_only=True
    )
    answer = api.get("exports/profitAndLoss.xlsx")
    known = openpyxl.load_workbook(io.BytesIO(b"".join(answer.streaming_content)), data_only=True)
    assert known.sheetnames == ["Actual", "Plan"]
    assert len(shown.sheetnames) == 2
    assert "Actual" not in shown.sheetnames
    profits = [
        {row[0].value: row[-1].value for row in book.worksheets[0].iter_rows()}[name]
        for book, name in ((shown, "Rohertrag"), (known, "Gross profit"))
    ]
    assert profits == [-5, -5], "what is taken off does not depend on its name"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("tag", "subject"),
    [("", "Import undone: “Acme”"), ("de", "Import rückgängig gemacht: „Acme“")],
)
def test_notification_mail_uses_language_of_recipient(
    acme, alice, mailoutbox, django_capture_on_commit_callbacks, tag, subject
):
    alice.mailed, alice.locale = ["import.undone"], tag
    alice.save()
    audit_context = AuditContext(time=timezone.now(), user_id=alice.pk)
    with use_locale(get_locale("de")), django_capture_on_commit_callbacks(execute=True):
        notify.notify_import_undone(company_id=acme.id, context=audit_context, import_id=acme.id, deleted_count=3)
    (mail,) = mailoutbox
    assert mail.subject == subject
    choices = get_german_page(alice, "/app/profile/notifications")
    assert "Import rückgängig gemacht" in choices


@pytest.mark.parametrize(
    ("query", "labels"),
    [("?months=24", None), ("?startDate=2026-03-01&endDate=2026-04-30", ["13.03.", "29.03.", "14.04.", "30.04."])],
)
def test_narrow_axis_of_the_balance_has_short_labels(api, alice, acme, books, query, labels):
    account = books.create_account()
    for day in ("2025-01-10", "2026-03-10"):
        assert api.post("transactions", {"accountId": account, "date": day, "amountValue": "9.00"}).status_code == 201
    page = get_german_page(alice, f"/app/companies/{acme.id}{query}")
    chart = find_section(page, "Liquiditätsverlauf")
    shown = re.findall(r'<g class="x-label">(.*?)</g>', chart)
    texts = [re.findall(r'<text class="([^"]*)"[^>]*>([^<]+)<', each) for each in shown]
    narrow = [text for label in texts for css_class, text in label if css_class in {"", "narrow-label"}]
    assert narrow
    assert max(map(len, narrow)) <= 6
    assert labels in (None, narrow)
