"""Addresses of the rows behind a figure. Ids, days and words of ours: nothing is to be quoted."""

from collections.abc import Iterable
from datetime import date
from uuid import UUID

from django.urls import reverse

from analytics.overview.facts import Facts
from ledger.calc.months import format_month


class Links:
    """To the transactions where the viewer may see them, else nowhere; and to what lies ahead."""

    def __init__(self, facts: Facts):
        self.until, self.today = facts.until, facts.today
        self.list = f"{reverse('transactions', args=[facts.company.id])}?" if facts.lists else ""
        self.plan = reverse("plan", args=[facts.company.id]) if facts.writes_plan else ""
        self.coming = f"{reverse('ahead', args=[facts.company.id])}?"

    def days(self, first: date, last: date) -> str:
        """What a balance of these days is made of: what was booked on them, or is booked and expected."""
        if first > self.until:
            return f"{self.coming}startDate={first}&endDate={last}"
        return self.list and f"{self.list}startDate={first}&endDate={min(last, self.until)}&pending=false"

    def flow(self, direction: str, first: date, last: date) -> str:
        """What came in, or went out."""
        if first > self.until or not self.list:
            return ""
        return f"{self.list}startDate={first}&endDate={min(last, self.until)}&flow={direction}&total=true"

    def ahead(self, first: date, last: date) -> str:
        """What is booked and expected after today, on all accounts."""
        if last <= self.today:
            return ""
        return f"{self.coming}startDate={max(first, self.today)}&endDate={last}&accounts=all"

    def results(self, month: date, *, line: str, categories: Iterable[UUID] = ()) -> str:
        """What counts in a month on a line of the profit and loss, in some categories or in all."""
        return self.list and f"{self.list}{results_query(month, month, line=line, categories=categories)}"


def results_query(
    first: date, last: date, *, line: str, categories: Iterable[UUID] = (), up_to: date | None = None
) -> str:
    """What counts in the months from the first to the last, in that up to a day where one is given."""
    chosen = "".join(f"&categoryId={each}" for each in categories)
    end = f"recognizedBy={up_to}" if up_to else f"recognizedTo={format_month(last)}"
    months = f"recognizedFrom={format_month(first)}&{end}"
    return f"{months}&plType={line}{chosen}&total=true"
