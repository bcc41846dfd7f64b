"""The page of a monthly report as tests read it."""

import re
from decimal import Decimal
from html import unescape


def page(company, month="2026-03"):
    return f"/app/companies/{company.id}/reports/{month}"


def read_table(answer, table_id):
    """label → texts of the cells of a section of the report."""
    section = re.search(rf'<section[^>]*>\s*<h2 id="{table_id}-heading">(.*?)</section>', answer.content.decode(), re.S)
    assert section, f"no section {table_id}"
    rows = {}
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", section[1], re.S):
        label, *cells = [strip(each) for each in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        rows[label] = cells
    return rows


def strip(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).replace("−", "-").split())


def shown(number):
    """A number of the API as the report writes it."""
    value = Decimal(str(number))
    return f"{value:,.2f}"
