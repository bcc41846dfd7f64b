"""What an assistant may ask for: sixteen tools at most, each of them one endpoint of the API under another name.

A tool takes what its endpoint takes and answers what it answers; a list becomes an object with ``items``. Nothing here
is about a company: the list is the same for every caller.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistants.parts import (
    ACCOUNT_TYPES,
    AHEAD,
    BALANCE,
    CATEGORY,
    CHANGE,
    CONDITIONS,
    EXPECTED,
    FOUND_BY,
    LIMIT,
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
    MONTH_OR_DAY,
    NUMBER,
    POINTS,
    TEXT,
    Schema,
    closed,
    listed,
    many,
    one_of,
    or_null,
    paged,
    shaped,
    told,
    totalled,
)

COMPANY = told(ID, "optional if there is one")
CONFIRM = told(TEXT, "digest of the call without it")
DEFAULT_ROWS, DEFAULT_CATEGORIES, MAX_ROWS = 20, 40, 500
OF_LIST = {"limit": DEFAULT_ROWS, "total": True}
TWICE = "Without confirm: only shows the change and a digest. "


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
    defaults: Mapping[str, Any] = field(default_factory=dict)  # sent to the endpoint unless the caller names others
    own_arguments: frozenset[str] = frozenset()  # that the endpoint does not have: condensing.py heeds them
    tells_changes: bool = False  # whether the first call lists what would change
    limits_rows: bool = False  # whether `limit` cuts a list that its endpoint answers whole
    default_rows: int = DEFAULT_ROWS  # of such a list

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
            "outputSchema": written(self.answers, tells_changes=self.tells_changes) if self.writes else self.answers,
            "annotations": {
                "readOnlyHint": not self.writes,
                "destructiveHint": self.overwrites,
                "idempotentHint": True,  # what was confirmed once is refused the second time
                "openWorldHint": False,
            },
        }


def written(answer: Schema, *, tells_changes: bool) -> Schema:
    """What both calls of a writing tool answer; `changes` by the first one only."""
    changes = {"changes": many(CHANGE)} if tells_changes else {}
    return shaped("done digest answer", done=FLAG, digest=TEXT, answer=answer, **changes)


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
        listed(shaped("id name", id=ID, name=TEXT, baseCurrency=TEXT, permissions=many(TEXT))),
    ),
    Tool(
        "get_balances",
        "Balances",
        "Balance of each account at the end of endDate, in the base currency, and its change since startDate; the "
        "largest first. Bank and cash accounts unless accountTypes says otherwise.",
        "POST",
        below("data/accountBalanceByAccount"),
        {**WINDOW, "accountTypes": ACCOUNT_TYPES, "limit": LIMIT},
        shaped("items", items=many(BALANCE), totalCount=COUNT, totals=told(ANY, "of all accounts")),
        needs="startDate endDate",
        own_arguments=frozenset({"limit"}),
    ),
    Tool(
        "get_cash_flow",
        "Cash flow",
        "What came in and went out per month (default), week or day, in the base currency; transfers are left out, "
        "outflow is positive.",
        "POST",
        below("data/cashFlowTimeSeries"),
        {**WINDOW, "interval": one_of("day", "week", "month")},
        shaped("inflow outflow", inflow=POINTS, outflow=POINTS),
        needs="startDate endDate",
        defaults={"interval": "month"},
    ),
    Tool(
        "get_forecast",
        "Cash forecast",
        "Cash ahead: actual up to the cutover, then projected from what is booked and planned; lowest point, first day "
        "below zero, overdue. If plannedInflow and plannedOutflow are 0, nothing is planned: claim no lowest point. "
        "byAccount adds each account in its currency.",
        "POST",
        below("data/forecastBalanceTimeSeries"),
        AHEAD,
        shaped(
            "actual projected overdue",
            actual=POINTS,
            projected=POINTS,
            lowest=shaped(date=DAY, value=NUMBER),
            belowZero=told(DAY, "absent: never below zero"),
            overdue=OWED,
            plannedInflow=NUMBER,
            plannedOutflow=NUMBER,
            accounts=many(ANY),
        ),
        needs="endDate",
        defaults={"interval": "month"},
    ),
    Tool(
        "get_profit_and_loss",
        "Profit and loss",
        "One row a category, the largest first, with actual and planned amounts in the order of months; expenses are "
        "positive. What is not categorized is missing: see list_open_transactions.",
        "POST",
        below("data/profitAndLoss"),
        {
            "startMonth": MONTH,
            "endMonth": MONTH,
            "interval": one_of("month", "quarter", "year"),
            "comparison": one_of("previousPeriod", "previousYear"),
            "showAllCategories": FLAG,
            "toDate": FLAG,
            "limit": LIMIT,
            "withUrls": told(FLAG, "also addresses of the transactions behind each amount"),
        },
        shaped(
            "months items totals totalCount",
            months=many(MONTH),
            items=many(
                shaped(
                    "plType categoryName actual",
                    plType=TEXT,
                    categoryId=TEXT,
                    categoryName=TEXT,
                    actual=many(NUMBER),
                    planned=told(many(NUMBER), "absent: nothing planned"),
                    comparisonActual=many(NUMBER),
                    transactionsUrls=many(TEXT),
                )
            ),
            totalCount=COUNT,
            totals=told(many(shaped(plType=TEXT, actual=NUMBER, planned=NUMBER)), "of all months"),
        ),
        needs="startMonth endMonth",
        own_arguments=frozenset({"limit", "withUrls"}),
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
            arpa=NUMBER,
            netRevenueRetention=NUMBER,
            grossRevenueRetention=NUMBER,
            customerChurnRate=NUMBER,
            revenueChurnRate=NUMBER,
            quickRatio=NUMBER,
        ),
    ),
    Tool(
        "search_transactions",
        "Search transactions",
        "Transactions that match all filters, the latest first, a page at a time.",
        "GET",
        below("transactions"),
        {
            **FOUND_BY,
            "categoryId": many(ID),
            "plType": LINE,
            "recognizedFrom": told(MONTH_OR_DAY, "counts in the P&L of this month or day, or later"),
            "recognizedTo": MONTH_OR_DAY,
            "recognizedBy": told(DAY, "of its month only what counts up to it"),
            "counterpartyId": ID,
            "open": told(FLAG, "not categorized in full"),
            "pending": FLAG,
            "transfer": FLAG,
            "updatedSince": told(TEXT, "a time, RFC 3339"),
        },
        totalled(TRANSACTION),
        defaults=OF_LIST,
    ),
    Tool(
        "list_open_transactions",
        "Open transactions",
        "Transactions that are not categorized, or not in full: they are missing in the profit and loss. "
        "Own transfers: link_transfer.",
        "GET",
        f"{below('transactions')}?open=true",
        FOUND_BY,
        totalled(TRANSACTION),
        defaults=OF_LIST,
    ),
    Tool(
        "list_categories",
        "Categories",
        "Categories, each with the lines of the profit and loss it can post to.",
        "GET",
        below("categories"),
        {"limit": told(COUNT, f"default {DEFAULT_CATEGORIES}")},
        shaped("items", items=many(CATEGORY), totalCount=COUNT),
        own_arguments=frozenset({"limit"}),
        limits_rows=True,
        default_rows=DEFAULT_CATEGORIES,
    ),
    Tool(
        "list_planned",
        "Planned payments",
        "What is planned to be paid or received: the rules with their recurrence, the latest first.",
        "GET",
        below("planned_transactions"),
        PAGE,
        paged(PLANNED),
        defaults={"limit": DEFAULT_ROWS},
    ),
    Tool(
        "list_due",
        "Due payments",
        "Expected payments, and what became of each. originalDate is the date of settle_planned.",
        "GET",
        below("planned_transactions/due"),
        {**WINDOW, "limit": LIMIT},
        shaped("items totalCount", items=many(EXPECTED), totalCount=COUNT),
        needs="startDate endDate",
        own_arguments=frozenset({"limit"}),
        limits_rows=True,
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
        tells_changes=True,
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
        shaped("id", id=TEXT, name=TEXT),
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
            "settledBy": told(one_of("transaction", "category"), "category: a month's total of its category"),
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
