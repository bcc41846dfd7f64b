"""What the company spends, month by month, as shares of a budget that follows its recurring revenue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from analytics.demonstration.story.movement import Movement, Tax
from ledger.calc.months import add_months, last_of_month

CENT = Decimal("0.01")
AT_FIRST, AT_LAST = 1.42, 1.31  # of recurring revenue: what is spent at the start and at the end of the story
LAST_DAY = 31
QUARTER_ENDS = (3, 6, 9, 12)
INSURED_MONTHS = 12


@dataclass(frozen=True, slots=True)
class Cost:
    """Something that is paid every month: its share of the budget, and how much it varies."""

    account: str
    vendor: str
    text: str
    category: str
    share: float
    day: int
    varies: float = 0.0


COSTS = (
    Cost("main", "Payroll", "Salaries Engineering", "productDevelopment", 0.285, LAST_DAY, 0.01),
    Cost("main", "Payroll", "Salaries Sales", "sales", 0.105, LAST_DAY, 0.03),
    Cost("main", "Payroll", "Salaries Customer Success", "support", 0.07, LAST_DAY, 0.01),
    Cost("main", "Payroll", "Salaries Marketing", "marketing", 0.05, LAST_DAY, 0.01),
    Cost("main", "Payroll", "Salaries Finance and Operations", "officeAndAdmin", 0.055, LAST_DAY, 0.01),
    Cost("main", "Harbour Offices", "Office rent", "officeAndAdmin", 0.04, 1),
    Cost("dollars", "Cirrus Cloud Inc.", "Hosting", "hosting", 0.06, 3, 0.06),
    Cost("main", "Searchlight Ads", "Search advertising", "marketing", 0.055, 12, 0.18),
    Cost("pounds", "Brightside Media Ltd", "Content and events", "marketing", 0.025, 15, 0.25),
    Cost("main", "Freelance developers", "Contractors", "productDevelopment", 0.03, 20, 0.2),
    Cost("main", "Pine & Partners", "Bookkeeping and legal advice", "professionalServices", 0.015, 22, 0.15),
    Cost("main", "Handover Support", "Outsourced first-level support", "support", 0.02, 17, 0.08),
    Cost("main", "Cardpath", "Fees for card payments", "paymentFees", 0.018, 4, 0.04),
    Cost("card", "Toolbox Online", "Developer tools", "productDevelopment", 0.016, 8, 0.05),
    Cost("card", "Deskware", "Office software", "officeAndAdmin", 0.008, 9, 0.03),
    Cost("card", "Leadline CRM", "Sales software", "sales", 0.009, 11, 0.03),
)
PAYROLL_TAX = 0.125  # split over the departments
DEPARTMENTS = (
    ("productDevelopment", "pd", Decimal("0.52")),
    ("sales", "cac", Decimal("0.28")),
    ("support", "cogs", Decimal("0.12")),
    ("officeAndAdmin", "ga", Decimal("0.08")),
)


def budgets(recurring: Sequence[Decimal]) -> list[Decimal]:
    """What is spent in each month, given the recurring revenue at the months' ends; growing evenly, never jumping."""
    found: list[Decimal] = []
    for index, worth in enumerate(recurring):
        ratio = AT_FIRST + (AT_LAST - AT_FIRST) * index / max(len(recurring) - 1, 1)
        budget = worth * Decimal(str(round(ratio, 4)))
        found.append(budget if not found else (found[-1] * 2 + budget) / 3)
    return found


def costs(month: date, budget: Decimal, *, chance: Random) -> Iterator[Movement]:
    """What is paid in a month."""
    for cost in COSTS:
        share = cost.share * (1 + chance.uniform(-cost.varies, cost.varies))
        yield Movement(
            account=cost.account,
            day=day_in(month, cost.day),
            amount=-part(budget, share),
            who=cost.vendor,
            text=f"{cost.text}, {month:%B %Y}",
            category=cost.category,
            vendor=cost.vendor,
        )
    yield payroll_tax(month, part(budget, PAYROLL_TAX))
    if month.month == 1:
        yield insurance(month, part(budget, 0.06))
    if month.month in QUARTER_ENDS:
        yield Movement(
            "main", month.replace(day=10), -part(budget, 0.02), "Tax office", f"Corporate tax, prepayment {month:%B}",
            "incomeTax", vendor="Tax office",
        )  # fmt: skip
        yield Movement(
            "savings", last_of_month(month), part(budget, 0.006), "Northbank", f"Interest to {month:%B %Y}",
            "interest", vendor="Northbank",
        )  # fmt: skip
    if month.month == 5:
        yield Movement(
            "main", month.replace(day=18), part(budget, 0.08), "Innovation agency", f"Research grant {month.year}",
            "grants", vendor="Innovation agency",
        )  # fmt: skip


def payroll_tax(month: date, amount: Decimal) -> Movement:
    """One payment for all departments."""
    parts, rest = {}, amount
    for category, line, share in DEPARTMENTS[1:]:
        parts[category, line] = -(amount * share).quantize(CENT)
        rest += parts[category, line]
    parts[DEPARTMENTS[0][:2]] = -rest
    return Movement(
        "main", month.replace(day=10), -amount, "Social security", f"Payroll tax and contributions, {month:%B %Y}",
        None, vendor="Social security", parts=parts,
    )  # fmt: skip


def insurance(month: date, amount: Decimal) -> Movement:
    """Paid in January for the whole year."""
    year = (month, add_months(month, INSURED_MONTHS) - timedelta(days=1))
    return Movement(
        "main", month.replace(day=14), -amount, "Aegis Insurance", f"Business insurance {month.year}",
        "officeAndAdmin", vendor="Aegis Insurance", tax=Tax(Decimal(0), year),
    )  # fmt: skip


def day_in(month: date, day: int) -> date:
    last = last_of_month(month)
    return month.replace(day=day) if day < last.day else last


def part(budget: Decimal, share: float) -> Decimal:
    """A share of a budget, with cents."""
    return (budget * Decimal(str(round(share, 6)))).quantize(CENT)
