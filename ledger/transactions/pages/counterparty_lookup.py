"""Find counterparties by name: a company may have thousands, too many for a select field."""

import re
from collections import Counter
from collections.abc import Collection
from uuid import UUID

from django.db.models.functions import Lower
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.errors import ValidationFailed
from companies.models import Company, parse_id
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.models import Counterparty, CounterpartyType
from ledger.transactions.pages.labels import COUNTERPARTY_TYPE_LABELS

MAX_SUGGESTIONS = 300
NAME_WITH_TYPE = re.compile(r"(.+) \((\w+)\)", re.DOTALL)
HIDDEN_MESSAGE = _("You do not have permission to view counterparties.")


def list_counterparty_suggestions(page: CompanyPage) -> list[str]:
    """Return the first names as suggestions for a text field; others can be typed."""
    if not page.has_permission(Permission.COUNTERPARTIES_READ):
        return []
    rows = list(
        Counterparty.objects.for_company(page.company.id)
        .in_display_order()
        .values_list("name", "type")[:MAX_SUGGESTIONS]
    )
    names = [name for name, _ in rows]
    return [
        f"{name} ({COUNTERPARTY_TYPE_LABELS[CounterpartyType(kind)]})" if names.count(name) > 1 else name
        for name, kind in rows
    ]


def format_counterparties_for_input(company: Company, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the text by which a field finds each counterparty: its name, with its type where others have the name."""
    if not ids:
        return {}
    rows = Counterparty.objects.for_company(company.id).annotate(folded_name=Lower("name"))
    same_named = rows.filter(folded_name__in=rows.filter(id__in=ids).values("folded_name"))
    columns = list(same_named.values_list("id", "name", "type", "folded_name"))
    counts = Counter(folded_name for *_, folded_name in columns)
    return {
        row_id: f"{name} ({COUNTERPARTY_TYPE_LABELS[CounterpartyType(kind)]})" if counts[folded_name] > 1 else name
        for row_id, name, kind, folded_name in columns
        if row_id in ids
    }


def get_counterparty_by_name(page: CompanyPage, text: str, *, pointer: str = "#/counterparty") -> Counterparty:
    """Return the counterparty with this name or id; a type in brackets resolves equal names: “Nimbus (vendor)”.

    Raises:
        ValidationFailed: `unknown_id`, or `permission_denied` so that nobody can probe for names.
    """
    if not page.has_permission(Permission.COUNTERPARTIES_READ):
        raise ValidationFailed([(pointer, "permission_denied", str(HIDDEN_MESSAGE))])
    rows = Counterparty.objects.for_company(page.company.id) if "\0" not in text else Counterparty.objects.none()
    counterparty_id = parse_id(text)
    candidates = list(rows.filter(id=counterparty_id) if counterparty_id else rows.filter(name__iexact=text)[:2])
    if not candidates and (parts := NAME_WITH_TYPE.fullmatch(text)):
        candidates = list(rows.filter(name__iexact=parts[1], type=parse_counterparty_type(parts[2]))[:2])
    if not candidates:
        raise ValidationFailed([(pointer, "unknown_id", gettext("This counterparty does not exist."))])
    if len(candidates) > 1:
        detail = gettext("Several counterparties have this name. Add the type in brackets or enter the ID.")
        raise ValidationFailed([(pointer, "unknown_id", detail)])
    return candidates[0]


def parse_counterparty_type(text: str) -> str:
    """Return the counterparty type for its translated word; another word is returned unchanged."""
    return next((kind.value for kind, called in COUNTERPARTY_TYPE_LABELS.items() if called == text), text)
