"""Read the page of a monthly report."""

import re
from decimal import Decimal
from html import unescape


def build_report_path(company, month="2026-03"):
    return f"/app/companies/{company.id}/reports/{month}"


def read_table(response, table_id):
    """Return {label: cell texts} of a section of the report."""
    section = re.search(
        rf'<section[^>]*>\s*<h2 id="{table_id}-heading">(.*?)</section>', response.content.decode(), re.S
    )
    assert section, f"no section {table_id}"
    rows = {}
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", section[1], re.S):
        label, *cells = [get_cell_text(each) for each in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        rows[label] = cells
    return rows


def get_cell_text(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).replace("−", "-").split())


def format_number(number):
    """Format a number of the API as the report does."""
    value = Decimal(str(number))
    return f"{value:,.2f}"
