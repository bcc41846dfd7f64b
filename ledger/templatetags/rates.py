"""Template tags for exchange rates: the notice on pages whose figures use old rates."""

from collections.abc import Collection
from datetime import date
from decimal import Context, Decimal
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils import timezone

from companies.locales import get_current_locale
from companies.permissions import Permission
from companies.time_zones import get_today
from ledger.money.current_rates import CurrentRate, list_old_rates
from ledger.money.rates import get_last_used_rates_version, get_rate_table

DISPLAY_DIGITS = Context(prec=6)
register = template.Library()


@register.filter(name="currency_codes")
def format_currency_codes(rates: list[CurrentRate]) -> str:
    """Return the currencies of rates as a list, such as: USD, GBP."""
    return ", ".join(rate.currency for rate in rates)


@register.filter(name="as_rate")
def format_rate(rate: Decimal) -> str:
    """Format a rate with six significant digits in the user's locale."""
    rounded = DISPLAY_DIGITS.plus(rate)
    return get_current_locale().format_number(rounded, max(-int(rounded.as_tuple().exponent), 0))


@register.simple_tag(takes_context=True, name="old_rates_notice")
def render_old_rates_notice(
    context: dict[str, Any], currencies: Collection[str] | None = None, until: date | None = None
) -> str:
    """Render the notice that names the currencies whose rates are older than four days.

    Templates of pages that convert amounts call it; their views have just loaded the rates, so only old rates cost a
    query.

    Args:
        currencies: the currencies that the page converts; None for those the company uses.
        until: the last day of the page's figures; None for today. The notice is not printed with figures whose own
            rates were not old.
    """
    access = context.get("access")
    if access is None:
        return ""
    company, rates = access.company, get_rate_table(get_last_used_rates_version())
    today = get_today(company, timezone.now())
    old = list_old_rates(company=company, today=today, rates=rates)
    if currencies is not None:
        old = [rate for rate in old if rate.currency in currencies]
    if not old:
        return ""
    values = {
        "company": company,
        "rates": old,
        "oldest_day": min((rate.day for rate in old if rate.day), default=None),
        "prints": any(rate.is_old_on(until or today) for rate in old),
        "opens": Permission.BALANCES_READ in access.permissions,
    }
    return render_to_string("ledger/money/old_rates.html", values)
