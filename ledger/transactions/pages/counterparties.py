"""Counterparties by name: a company may have thousands, more than a list to choose from holds."""

import re

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.errors import FieldErrors
from companies.models import id_from
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.models import Counterparty, CounterpartyType
from ledger.transactions.pages.words import KINDS

MOST_SUGGESTED = 300
WITH_TYPE = re.compile(r"(.+) \((\w+)\)", re.DOTALL)
HIDDEN = _("Your role does not show counterparties.")


def suggested(visit: Visit) -> list[str]:
    """Names to offer while one types; the first so many, for others may be typed as well."""
    if not visit.may(Permission.COUNTERPARTIES_READ):
        return []
    rows = list(Counterparty.objects.of(visit.company.id).in_order().values_list("name", "type")[:MOST_SUGGESTED])
    names = [name for name, _ in rows]
    return [f"{name} ({KINDS[CounterpartyType(kind)]})" if names.count(name) > 1 else name for name, kind in rows]


def counterparty_called(visit: Visit, text: str, *, pointer: str = "#/counterparty") -> Counterparty:
    """The one of this name; of several with one name, the one of the type in brackets: “Nimbus (vendor)”.

    Its id is as good as its name. Raises FieldErrors: unknown_id, or permission_denied, lest somebody who may not see
    counterparties finds out which there are.
    """
    if not visit.may(Permission.COUNTERPARTIES_READ):
        raise FieldErrors([(pointer, "permission_denied", str(HIDDEN))])
    rows = Counterparty.objects.of(visit.company.id) if "\0" not in text else Counterparty.objects.none()
    own = id_from(text)
    candidates = list(rows.filter(id=own) if own else rows.filter(name__iexact=text)[:2])
    if not candidates and (parts := WITH_TYPE.fullmatch(text)):
        candidates = list(rows.filter(name__iexact=parts[1], type=kind_called(parts[2]))[:2])
    if not candidates:
        raise FieldErrors([(pointer, "unknown_id", gettext("No counterparty has this name."))])
    if len(candidates) > 1:
        detail = gettext("Several counterparties have this name: add the type in brackets, or give the id.")
        raise FieldErrors([(pointer, "unknown_id", detail)])
    return candidates[0]


def kind_called(word: str) -> str:
    """The type by the reader's word for it; whatever is none stays as it is."""
    return next((kind.value for kind, called in KINDS.items() if called == word), word)
