"""The texts of a resource's `fields.py` on its pages: inputs of its form, details of a row, columns of a table."""

from collections.abc import Iterable
from typing import Any

from django import template

from companies.pages.forms import BoundForm
from ledger.calc.text_fields import TextField

register = template.Library()


@register.inclusion_tag("ledger/text_inputs.html", name="text_inputs")
def build_text_input_context(form: BoundForm, texts: Iterable[TextField]) -> dict[str, Any]:
    """Context of the inputs of texts, with their current values."""
    return {"form": form, "texts": [(text, form.values.get(text.name) or "") for text in texts]}


@register.inclusion_tag("ledger/text_details.html", name="text_details")
def build_text_detail_context(row: Any, texts: Iterable[TextField], empty: str = "") -> dict[str, Any]:
    """Context of the details of a row; texts without a value are left out, or show `empty`."""
    values = ((text, getattr(row, text.column) or empty) for text in texts)
    return {"texts": [(text, value) for text, value in values if value]}


@register.inclusion_tag("ledger/text_headings.html", name="text_headings")
def build_text_heading_context(texts: Iterable[TextField]) -> dict[str, Any]:
    """Context of the headings of columns that are only in the table's CSV file."""
    return {"texts": texts}


@register.inclusion_tag("ledger/text_cells.html", name="text_cells")
def build_text_cell_context(row: Any, texts: Iterable[TextField]) -> dict[str, Any]:
    """Context of the cells of a row below `text_headings`."""
    return {"values": [getattr(row, text.column) or "" for text in texts]}
