"""Monthly expenses of the demo company, as shares of a budget that follows recurring revenue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from demo.scenario.movements import InvoiceTax, Movement
from ledger.calc.months import add_months, get_last_day_of_month

CENT = Decimal("0.01")
FIRST_SPENDING_RATIO, LAST_SPENDING_RATIO = 1.42, 1.31  # of recurring revenue, at start and end
LAST_DAY_OF_MONTH = 31
QUARTER_ENDS = (3, 6, 9, 12)
INSURED_MONTHS = 12


@dataclass(frozen=True, slots=True)
class MonthlyCost:
    """A monthly cost: its share of the budget, and how much it varies."""

    account: str
    vendor: str
    text: str
    category: str
    share: float
    day: int
    varies: float = 0.0


MONTHLY_COSTS = (
    MonthlyCost("main", "Payroll", "Salaries Engineering", "productDevelopment", 0.285, LAST_DAY_OF_MONTH, 0.01),
    MonthlyCost("main", "Payroll", "Salaries Sales", "sales", 0.105, LAST_DAY_OF_MONTH, 0.03),
    MonthlyCost("main", "Payroll", "Salaries Customer Success", "support", 0.07, LAST_DAY_OF_MONTH, 0.01),
    MonthlyCost("main", "Payroll", "Salaries Marketing", "marketing", 0.05, LAST_DAY_OF_MONTH, 0.01),
    MonthlyCost("main", "Payroll", "Salaries Finance and Operations", "officeAndAdmin", 0.055, LAST_DAY_OF_MONTH, 0.01),
    MonthlyCost("main", "Harbour Offices", "Office rent", "officeAndAdmin", 0.04, 1),
    MonthlyCost("dollars", "Cirrus Cloud Inc.", "Hosting", "hosting", 0.06, 3, 0.06),
    MonthlyCost("main", "Searchlight Ads", "Search advertising", "marketing", 0.055, 12, 0.18),
    MonthlyCost("pounds", "Brightside Media Ltd", "Content and events", "marketing", 0.025, 15, 0.25),
    MonthlyCost("main", "Freelance developers", "Contractors", "productDevelopment", 0.03, 20, 0.2),
    MonthlyCost("main", "Pine & Partners", "Bookkeeping and legal advice", "professionalServices", 0.015, 22, 0.15),
    MonthlyCost("main", "Handover Support", "Outsourced first-level support", "support", 0.02, 17, 0.08),
    MonthlyCost("main", "Cardpath", "Fees for card payments", "paymentFees", 0.018, 4, 0.04),
    MonthlyCost("card", "Toolbox Online", "Developer tools", "productDevelopment", 0.016, 8, 0.05),
    MonthlyCost("card", "Deskware", "Office software", "officeAndAdmin", 0.008, 9, 0.03),
    MonthlyCost("card", "Leadline CRM", "Sales software", "sales", 0.009, 11, 0.03),
)
PAYROLL_TAX = 0.125  # split over the departments
DEPARTMENTS = (
    ("productDevelopment", "pd", Decimal("0.52")),
    ("sales", "cac", Decimal("0.28")),
    ("support", "cogs", Decimal("0.12")),
    ("officeAndAdmin", "ga", Decimal("0.08")),
)


def compute_budgets(recurring: Sequence[Decimal]) -> list[Decimal]:
    """Compute each month's budget from recurring revenue at month ends; it grows evenly."""
    monthly_budgets: list[Decimal] = []
    for index, revenue in enumerate(recurring):
        ratio = FIRST_SPENDING_RATIO + (LAST_SPENDING_RATIO - FIRST_SPENDING_RATIO) * index / max(len(recurring) - 1, 1)
        budget = revenue * Decimal(str(round(ratio, 4)))
        monthly_budgets.append(budget if not monthly_budgets else (monthly_budgets[-1] * 2 + budget) / 3)
    return monthly_budgets


def iter_monthly_expenses(month: date, budget: Decimal, *, random_source: Random) -> Iterator[Movement]:
    """Yield the expenses of a month."""
    for cost in MONTHLY_COSTS:
        share = cost.share * (1 + random_source.uniform(-cost.varies, cost.varies))
        yield Movement(
            account=cost.account,
            day=get_day_in_month(month, cost.day),
            amount=-compute_budget_share(budget, share),
            counterparty_name=cost.vendor,
            text=f"{cost.text}, {month:%B %Y}",
            category=cost.category,
            vendor=cost.vendor,
        )
    yield build_payroll_tax(month, compute_budget_share(budget, PAYROLL_TAX))
    if month.month == 1:
        yield build_insurance_payment(month, compute_budget_share(budget, 0.06))
    if month.month in QUARTER_ENDS:
        yield Movement(
            "main", month.replace(day=10), -compute_budget_share(budget, 0.02), "Tax office",
            f"Corporate tax, prepayment {month:%B}",
            "incomeTax", vendor="Tax office",
        )  # fmt: skip
        yield Movement(
            "savings", get_last_day_of_month(month), compute_budget_share(budget, 0.006), "Northbank",
            f"Interest to {month:%B %Y}",
            "interest", vendor="Northbank",
        )  # fmt: skip
    if month.month == 5:
        yield Movement(
            "main", month.replace(day=18), compute_budget_share(budget, 0.08), "Innovation agency",
            f"Research grant {month.year}",
            "grants", vendor="Innovation agency",
        )  # fmt: skip


def build_payroll_tax(month: date, amount: Decimal) -> Movement:
    """Build one payment that is split over all departments."""
    parts, remainder = {}, amount
    for category, line, share in DEPARTMENTS[1:]:
        parts[category, line] = -(amount * share).quantize(CENT)
        remainder += parts[category, line]
    parts[DEPARTMENTS[0][:2]] = -remainder
    return Movement(
        "main", month.replace(day=10), -amount, "Social security", f"Payroll tax and contributions, {month:%B %Y}",
        None, vendor="Social security", parts=parts,
    )  # fmt: skip


def build_insurance_payment(month: date, amount: Decimal) -> Movement:
    """Build the January payment for the whole year."""
    year = (month, add_months(month, INSURED_MONTHS) - timedelta(days=1))
    return Movement(
        "main", month.replace(day=14), -amount, "Aegis Insurance", f"Business insurance {month.year}",
        "officeAndAdmin", vendor="Aegis Insurance", tax=InvoiceTax(Decimal(0), year),
    )  # fmt: skip


def get_day_in_month(month: date, day: int) -> date:
    last = get_last_day_of_month(month)
    return month.replace(day=day) if day < last.day else last


def compute_budget_share(budget: Decimal, share: float) -> Decimal:
    """Return a share of a budget, rounded to cents."""
    return (budget * Decimal(str(round(share, 6)))).quantize(CENT)
