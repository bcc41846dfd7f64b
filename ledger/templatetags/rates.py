"""The notice above pages whose figures are converted at old exchange rates."""

from decimal import Context, Decimal
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils import timezone

from companies.locales import current
from companies.pages.kept import kept
from companies.permissions import Permission
from companies.time_zones import get_today
from ledger.money.current_rates import CurrentRate, has_old_rates, list_rates
from ledger.money.rates import get_known_version, rate_table

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


@register.simple_tag(takes_context=True)
def old_rates_notice(context: dict[str, Any]) -> str:
    """Name the currencies whose rates are older than four days; nothing on pages without converted figures.

    Pages with converted figures have just read the rates, so only old ones cost a statement.
    """
    access = context.get("access")
    if access is None or context.get("section") or context.get("tab") not in CONVERTED_TABS:
        return ""
    company, version = access.company, get_known_version()
    today = get_today(company, timezone.now())
    if not has_old_rates(today=today, rates=rate_table(version)):
        return ""
    opens = Permission.BALANCES_READ in access.permissions

    def draw() -> str:
        rates = list_rates(company=company, today=today, rates_version=version)
        old = [rate for rate in rates if rate.is_old]
        oldest_day = min((rate.day for rate in old if rate.day), default=None)
        values = {"company": company, "rates": old, "oldest_day": oldest_day, "opens": opens}
        return render_to_string("ledger/money/old_rates.html", values)

    return kept(company_id=company.id, name="old-rates", of=(today, version, opens), draw=draw)
