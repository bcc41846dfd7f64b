"""What an assistant may ask for: sixteen tools at most, each of them one endpoint of the API under another name.

A tool takes what its endpoint takes and answers what it answers; a list becomes an object with ``items``. Nothing here
is about a company: the list is the same for every caller.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistants.parts import (
    AHEAD,
    CONDITIONS,
    EXPECTED,
    FOUND_BY,
    OWED,
    PAGE,
    PARTY,
    PERIOD,
    PLANNED,
    RECURRENCE,
    SELECTION,
    TRANSACTION,
    WINDOW,
)
from assistants.schemas import (
    AMOUNT,
    ANY,
    COUNT,
    DAY,
    FLAG,
    ID,
    LINE,
    MONTH,
    NUMBER,
    POINTS,
    TEXT,
    Schema,
    by_id,
    closed,
    listed,
    many,
    one_of,
    or_null,
    shaped,
    told,
)

COMPANY = told(ID, "from list_companies; may be left out where there is one")
CONFIRM = told(TEXT, "the digest that the same call without it answered: does what it said")
TWICE = "First call without confirm: nothing is stored, it answers what would come of it, and a digest. "


@dataclass(frozen=True, slots=True)
class Tool:
    """``path`` is below the company, with the arguments that it takes in braces; ``method`` and the rest of the
    arguments make the request."""

    name: str
    title: str
    description: str
    method: str
    path: str
    takes: Schema
    answers: Schema
    writes: bool = False
    overwrites: bool = False
    needs: str = ""  # arguments without which nothing can be asked

    @property
    def in_company(self) -> bool:
        return self.path.startswith("/companies/")

    def shown(self) -> dict[str, Any]:
        """The tool as tools/list answers it."""
        fields = dict(self.takes)
        if self.in_company:
            fields = {"companyId": COMPANY} | fields
        if self.writes:
            fields |= {"confirm": CONFIRM}
        return {
            "name": self.name,
            "title": self.title,
            "description": (TWICE if self.writes else "") + self.description,
            "inputSchema": closed(shaped(self.needs, **fields)),
            "outputSchema": written(self.answers) if self.writes else self.answers,
            "annotations": {
                "readOnlyHint": not self.writes,
                "destructiveHint": self.overwrites,
                "idempotentHint": True,  # what was confirmed once is refused the second time
                "openWorldHint": False,
            },
        }


def written(answer: Schema) -> Schema:
    """What both calls of a writing tool answer."""
    return shaped("done digest answer", done=FLAG, digest=TEXT, answer=answer)


def below(path: str) -> str:
    return f"/companies/{{companyId}}/{path}"


TOOLS: tuple[Tool, ...] = (
    Tool(
        "list_companies",
        "Companies",
        "The companies that can be reached, each with its currency and the caller's permissions. Start here.",
        "GET",
        "/companies",
        {},
        listed(shaped("id name", id=ID, name=TEXT, baseCurrency=or_null(TEXT), permissions=many(TEXT))),
    ),
    Tool(
        "get_balances",
        "Balances",
        "Balance of each account at the end of endDate, in the base currency, and its change since startDate. By "
        "account id; bank and cash accounts unless accountTypes says otherwise.",
        "POST",
        below("data/accountBalanceByAccount"),
        {**WINDOW, "accountTypes": many(one_of("bank", "cash", "creditCard", "loan", "transit", "other"))},
        by_id(
            shaped(
                "accountName value",
                accountName=TEXT,
                value=NUMBER,
                valuePreviousPeriod=NUMBER,
                valueChange=NUMBER,
            )
        ),
        needs="startDate endDate",
    ),
    Tool(
        "get_cash_flow",
        "Cash flow",
        "What came in and went out per day, week or month, in the base currency; transfers are left out, outflow is "
        "positive.",
        "POST",
        below("data/cashFlowTimeSeries"),
        {**WINDOW, "interval": one_of("day", "week", "month")},
        shaped("inflow outflow", inflow=POINTS, outflow=POINTS),
        needs="startDate endDate",
    ),
    Tool(
        "get_forecast",
        "Cash forecast",
        "The cash balance ahead: actual up to the cutover, then projected from what is booked and planned; its lowest "
        "point, the first day below zero, and what is overdue.",
        "POST",
        below("data/forecastBalanceTimeSeries"),
        AHEAD,
        shaped(
            "actual projected lowest belowZero overdue",
            actual=POINTS,
            projected=POINTS,
            lowest=or_null(shaped(date=DAY, value=NUMBER)),
            belowZero=or_null(DAY),
            overdue=OWED,
        ),
        needs="endDate",
    ),
    Tool(
        "get_profit_and_loss",
        "Profit and loss",
        "Actual and planned amounts by period, line and category; expenses are positive. What is not categorized is "
        "missing: see list_open_transactions.",
        "POST",
        below("data/profitAndLoss"),
        {
            "startMonth": MONTH,
            "endMonth": MONTH,
            "interval": one_of("month", "quarter", "year"),
            "comparison": one_of("previousPeriod", "previousYear"),
            "showAllCategories": FLAG,
            "toDate": FLAG,
        },
        listed(
            shaped(
                "month plType categoryName actual planned",
                month=MONTH,
                plType=LINE,
                categoryId=ID,
                categoryName=TEXT,
                actual=NUMBER,
                planned=NUMBER,
                percentage=or_null(NUMBER),
                comparisonActual=or_null(NUMBER),
                transactionsUrl=TEXT,
            )
        ),
        needs="startMonth endMonth",
    ),
    Tool(
        "get_recurring_revenue",
        "Recurring revenue",
        "MRR, ARR, customers, retention and churn over the twelve months up to a month; the running one by default.",
        "POST",
        below("data/recurringRevenueSummary"),
        {"month": MONTH},
        shaped(
            "mrr arr customers",
            mrr=NUMBER,
            arr=NUMBER,
            customers=COUNT,
            arpa=or_null(NUMBER),
            netRevenueRetention=or_null(NUMBER),
            grossRevenueRetention=or_null(NUMBER),
            customerChurnRate=or_null(NUMBER),
            revenueChurnRate=or_null(NUMBER),
            quickRatio=or_null(NUMBER),
        ),
    ),
    Tool(
        "search_transactions",
        "Search transactions",
        "The transactions that all given filters leave, the latest first, a page at a time.",
        "GET",
        below("transactions"),
        {
            **FOUND_BY,
            "categoryId": many(ID),
            "plType": LINE,
            "recognizedFrom": told(MONTH, "counts in the P&L of this month or later"),
            "recognizedTo": MONTH,
            "recognizedBy": told(DAY, "of its month only what counts up to it"),
            "counterpartyId": ID,
            "open": told(FLAG, "not categorized in full"),
            "pending": FLAG,
            "transfer": FLAG,
            "updatedSince": told(TEXT, "a time, RFC 3339"),
        },
        listed(TRANSACTION),
    ),
    Tool(
        "list_open_transactions",
        "Open transactions",
        "Transactions that are not categorized, or not in full: they are missing in the profit and loss. "
        "Own transfers: link_transfer.",
        "GET",
        f"{below('transactions')}?open=true",
        FOUND_BY,
        listed(TRANSACTION),
    ),
    Tool(
        "list_categories",
        "Categories",
        "All categories, each with the lines of the profit and loss it can post to.",
        "GET",
        below("categories"),
        {},
        listed(shaped("id name plTypes", id=ID, name=TEXT, plTypes=many(LINE), system=FLAG, used=COUNT)),
    ),
    Tool(
        "list_planned",
        "Planned payments",
        "What is planned to be paid or received: the rules with their recurrence, the latest first.",
        "GET",
        below("planned_transactions"),
        PAGE,
        listed(PLANNED),
    ),
    Tool(
        "list_due",
        "Due payments",
        "Expected payments of some days, and what became of each. Its originalDate is the date of settle_planned.",
        "GET",
        below("planned_transactions/due"),
        WINDOW,
        listed(EXPECTED),
        needs="startDate endDate",
    ),
    Tool(
        "categorize",
        "Categorize transactions",
        "Gives the whole amount of each selected transaction to one category, whatever it had before.",
        "POST",
        below("transactions/categorize"),
        {
            "selection": SELECTION,
            "categoryId": ID,
            "plType": told(LINE, "needed where the category has several"),
            "counterparty": PARTY,
            "usingDateRule": PERIOD,
            "passThroughTax": NUMBER,
        },
        shaped("affected", affected=or_null(COUNT)),
        writes=True,
        overwrites=True,
        needs="selection categoryId",
    ),
    Tool(
        "create_rule",
        "Create a categorization rule",
        "A rule that categorizes what arrives from now on: where all its conditions hold, its action is done.",
        "POST",
        below("categorization_rules"),
        {
            "name": TEXT,
            "conditions": CONDITIONS,
            "action": shaped(
                "categoryId",
                categoryId=ID,
                plType=LINE,
                counterparty=PARTY,
                usingDateRule=PERIOD,
                passThroughTaxPercent=NUMBER,
            ),
            "enabled": FLAG,
            "order": COUNT,
        },
        shaped("id", id=ID, name=TEXT, conditions=ANY, action=ANY, enabled=FLAG, order=COUNT),
        writes=True,
        needs="name conditions action",
    ),
    Tool(
        "link_transfer",
        "Link a transfer",
        "Two transactions of two accounts are the legs of one transfer, and no income or expense.",
        "POST",
        below("transactions/link_transfer"),
        {
            "sourceTransactionId": ID,
            "sourceCategorizationId": told(ID, "a part of it; its open remainder where it is left out"),
            "targetTransactionId": ID,
            "force": told(FLAG, "although the amounts differ"),
        },
        shaped(success=FLAG),
        writes=True,
        needs="sourceTransactionId targetTransactionId",
    ),
    Tool(
        "plan_payment",
        "Plan a payment",
        "Plans money in or out, once or recurring; it counts in the forecast from then on.",
        "POST",
        below("planned_transactions"),
        {
            "name": TEXT,
            "startDate": DAY,
            "amountValue": AMOUNT,
            "amountCurrency": TEXT,
            "accountId": {"type": ["string", "null"], "format": "uuid"},
            "categoryId": ID,
            "counterparty": PARTY,
            "recurrence": RECURRENCE,
            "usingDateRule": PERIOD,
            "passThroughTaxAmount": TEXT,
            "autoSettle": FLAG,
        },
        PLANNED | {"required": ["id"]},
        writes=True,
        needs="name startDate amountValue accountId",
    ),
    Tool(
        "settle_planned",
        "Settle a planned payment",
        "Says that a transaction is what was planned for a date, which leaves the forecast.",
        "POST",
        below("planned_transactions/{plannedTransactionId}/settle"),
        {"plannedTransactionId": ID, "date": told(DAY, "that the rule names"), "transactionId": ID},
        PLANNED | {"required": ["id"]},
        writes=True,
        needs="plannedTransactionId date transactionId",
    ),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
