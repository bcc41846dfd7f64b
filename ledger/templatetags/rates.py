"""The notice above pages whose figures are converted at old exchange rates."""

from decimal import Context, Decimal
from typing import Any

from django import template
from django.utils import timezone

from companies.locales import current
from companies.permissions import Permission
from ledger.money.current_rates import CurrentRate, find_old_rates

SHOWN_DIGITS = Context(prec=6)
register = template.Library()
CONVERTED_TABS = {None, "", "accounts", "planned", "profit-and-loss", "recurring-revenue"}  # none is the overview


@register.filter
def currency_codes(rates: list[CurrentRate]) -> str:
    """USD, GBP"""
    return ", ".join(rate.currency for rate in rates)


@register.filter
def as_rate(rate: Decimal) -> str:
    """A rate with six significant digits, as the reader writes numbers."""
    shown = SHOWN_DIGITS.plus(rate)
    return current().number(shown, max(-int(shown.as_tuple().exponent), 0))


@register.inclusion_tag("ledger/money/old_rates.html", takes_context=True)
def old_rates_notice(context: dict[str, Any]) -> dict[str, Any]:
    """Name the currencies whose rates are older than four days; nothing on pages without converted figures."""
    access = context.get("access")
    if access is None or context.get("section") or context.get("tab") not in CONVERTED_TABS:
        return {}
    old = find_old_rates(company=access.company, today=timezone.now().date())
    return {
        "company": access.company,
        "rates": old,
        "oldest_day": min((each.day for each in old if each.day), default=None),
        "opens": Permission.BALANCES_READ in access.permissions,
    }
