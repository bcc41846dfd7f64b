"""The tools for assistants, sixteen at most: each is an API endpoint under another name.

A tool takes what its endpoint takes and answers what it answers; a list becomes an object with `items`. The
list of tools is the same for every caller.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistants.schema_builders import (
    AMOUNT,
    COUNT,
    DAY,
    FLAG,
    ID,
    MONTH,
    MONTH_OR_DAY,
    NUMBER,
    OBJECT,
    PL_TYPE,
    TEXT,
    TIME_SERIES,
    Schema,
    add_schema_description,
    allow_null,
    build_array,
    build_enum,
    build_list_schema,
    build_object,
    build_page_schema,
    build_totalled_page_schema,
    disallow_other_fields,
)
from assistants.tool_schemas import (
    ACCOUNT_TYPES,
    BALANCE,
    CATEGORY,
    CONDITIONS,
    COUNTERPARTY,
    DATE_RULE,
    DUE_OCCURRENCE,
    FORECAST_FIELDS,
    LIMIT_FIELD,
    OVERDUE,
    PAGE_FIELDS,
    PLANNED_TRANSACTION,
    RECURRENCE,
    SEARCH_FIELDS,
    SELECTION,
    TRANSACTION,
    TRANSACTION_CHANGE,
    WINDOW_FIELDS,
)

COMPANY_ID_FIELD = add_schema_description(ID, "optional if there is one")
CONFIRM_FIELD = add_schema_description(TEXT, "digest of the call without it")
DEFAULT_ROWS, DEFAULT_CATEGORIES, MAX_ROWS = 20, 40, 500
LIST_DEFAULTS = {"limit": DEFAULT_ROWS, "total": True}
CONFIRMATION_NOTE = "Without confirm: only shows the change and a digest. "


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the MCP endpoint.

    `path` is below the company, with arguments in braces; `method` and the other arguments make the request.
    """

    name: str
    title: str
    description: str
    method: str
    path: str
    input_fields: Schema
    output_schema: Schema
    writes: bool = False
    overwrites: bool = False
    required_fields: str = ""  # names of required arguments
    defaults: Mapping[str, Any] = field(default_factory=dict)  # default arguments of the endpoint
    own_arguments: frozenset[str] = frozenset()  # arguments that the endpoint lacks; used by compact_answers.py
    lists_changes: bool = False  # whether the first call lists the changes
    limits_rows: bool = False  # whether `limit` truncates a list that the endpoint returns completely
    default_rows: int = DEFAULT_ROWS  # of such a list

    @property
    def is_company_scoped(self) -> bool:
        return self.path.startswith("/companies/")

    def to_dict(self) -> dict[str, Any]:
        """Return the tool as tools/list does."""
        fields = dict(self.input_fields)
        if self.is_company_scoped:
            fields = {"companyId": COMPANY_ID_FIELD} | fields
        if self.writes:
            fields |= {"confirm": CONFIRM_FIELD}
        return {
            "name": self.name,
            "title": self.title,
            "description": (CONFIRMATION_NOTE if self.writes else "") + self.description,
            "inputSchema": disallow_other_fields(build_object(self.required_fields, **fields)),
            "outputSchema": build_confirmation_schema(self.output_schema, lists_changes=self.lists_changes)
            if self.writes
            else self.output_schema,
            "annotations": {
                "readOnlyHint": not self.writes,
                "destructiveHint": self.overwrites,
                "idempotentHint": True,  # a digest is accepted only once
                "openWorldHint": False,
            },
        }


def build_confirmation_schema(answer: Schema, *, lists_changes: bool) -> Schema:
    """Build the output schema of a writing tool; only the first call returns `changes`."""
    changes = {"changes": build_array(TRANSACTION_CHANGE)} if lists_changes else {}
    return build_object("done digest answer", done=FLAG, digest=TEXT, answer=answer, **changes)


def build_company_path(path: str) -> str:
    return f"/companies/{{companyId}}/{path}"


TOOLS: tuple[Tool, ...] = (
    Tool(
        "list_companies",
        "Companies",
        "The companies that can be reached, each with its currency and the caller's permissions. Start here.",
        "GET",
        "/companies",
        {},
        build_list_schema(build_object("id name", id=ID, name=TEXT, baseCurrency=TEXT, permissions=build_array(TEXT))),
    ),
    Tool(
        "get_balances",
        "Balances",
        "Balance of each account at the end of endDate, in the base currency, and its change since startDate; the "
        "largest first. Bank and cash accounts unless accountTypes says otherwise.",
        "POST",
        build_company_path("data/accountBalanceByAccount"),
        {**WINDOW_FIELDS, "accountTypes": ACCOUNT_TYPES, "limit": LIMIT_FIELD},
        build_object(
            "items",
            items=build_array(BALANCE),
            totalCount=COUNT,
            totals=add_schema_description(OBJECT, "of all accounts"),
        ),
        required_fields="startDate endDate",
        own_arguments=frozenset({"limit"}),
    ),
    Tool(
        "get_cash_flow",
        "Cash flow",
        "What came in and went out per month (default), week or day, in the base currency; transfers are left out, "
        "outflow is positive.",
        "POST",
        build_company_path("data/cashFlowTimeSeries"),
        {**WINDOW_FIELDS, "interval": build_enum("day", "week", "month")},
        build_object("inflow outflow", inflow=TIME_SERIES, outflow=TIME_SERIES),
        required_fields="startDate endDate",
        defaults={"interval": "month"},
    ),
    Tool(
        "get_forecast",
        "Cash forecast",
        "Cash ahead: actual up to the cutover, then projected from what is booked and planned; lowest point, first day "
        "below zero, overdue. If plannedInflow and plannedOutflow are 0, nothing is planned: claim no lowest point. "
        "byAccount adds each account in its currency.",
        "POST",
        build_company_path("data/forecastBalanceTimeSeries"),
        FORECAST_FIELDS,
        build_object(
            "actual projected overdue",
            actual=TIME_SERIES,
            projected=TIME_SERIES,
            lowest=build_object(date=DAY, value=NUMBER),
            belowZero=add_schema_description(DAY, "absent: never below zero"),
            overdue=OVERDUE,
            plannedInflow=NUMBER,
            plannedOutflow=NUMBER,
            accounts=build_array(OBJECT),
        ),
        required_fields="endDate",
        defaults={"interval": "month"},
    ),
    Tool(
        "get_profit_and_loss",
        "Profit and loss",
        "One row a category, the largest first, with actual and planned amounts in the order of months; expenses are "
        "positive. What is not categorized is missing: see list_open_transactions.",
        "POST",
        build_company_path("data/profitAndLoss"),
        {
            "startMonth": MONTH,
            "endMonth": MONTH,
            "interval": build_enum("month", "quarter", "year"),
            "comparison": build_enum("previousPeriod", "previousYear"),
            "showAllCategories": FLAG,
            "toDate": FLAG,
            "limit": LIMIT_FIELD,
            "withUrls": add_schema_description(FLAG, "also addresses of the transactions behind each amount"),
        },
        build_object(
            "months items totals totalCount",
            months=build_array(MONTH),
            items=build_array(
                build_object(
                    "plType categoryName actual",
                    plType=TEXT,
                    categoryId=TEXT,
                    categoryName=TEXT,
                    actual=build_array(NUMBER),
                    planned=add_schema_description(build_array(NUMBER), "absent: nothing planned"),
                    comparisonActual=build_array(NUMBER),
                    transactionsUrls=build_array(TEXT),
                )
            ),
            totalCount=COUNT,
            totals=add_schema_description(
                build_array(build_object(plType=TEXT, actual=NUMBER, planned=NUMBER)), "of all months"
            ),
        ),
        required_fields="startMonth endMonth",
        own_arguments=frozenset({"limit", "withUrls"}),
    ),
    Tool(
        "get_recurring_revenue",
        "Recurring revenue",
        "MRR, ARR, customers, retention and churn over the twelve months up to a month; the running one by default.",
        "POST",
        build_company_path("data/recurringRevenueSummary"),
        {"month": MONTH},
        build_object(
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
        build_company_path("transactions"),
        {
            **SEARCH_FIELDS,
            "categoryId": build_array(ID),
            "plType": PL_TYPE,
            "recognizedFrom": add_schema_description(MONTH_OR_DAY, "counts in the P&L of this month or day, or later"),
            "recognizedTo": MONTH_OR_DAY,
            "recognizedBy": add_schema_description(DAY, "of its month only what counts up to it"),
            "counterpartyId": ID,
            "open": add_schema_description(FLAG, "not categorized in full"),
            "pending": FLAG,
            "transfer": FLAG,
            "updatedSince": add_schema_description(TEXT, "a time, RFC 3339"),
        },
        build_totalled_page_schema(TRANSACTION),
        defaults=LIST_DEFAULTS,
    ),
    Tool(
        "list_open_transactions",
        "Open transactions",
        "Transactions that are not categorized, or not in full: they are missing in the profit and loss. "
        "Own transfers: link_transfer.",
        "GET",
        f"{build_company_path('transactions')}?open=true",
        SEARCH_FIELDS,
        build_totalled_page_schema(TRANSACTION),
        defaults=LIST_DEFAULTS,
    ),
    Tool(
        "list_categories",
        "Categories",
        "Categories, each with the lines of the profit and loss it can post to.",
        "GET",
        build_company_path("categories"),
        {"limit": add_schema_description(COUNT, f"default {DEFAULT_CATEGORIES}")},
        build_object("items", items=build_array(CATEGORY), totalCount=COUNT),
        own_arguments=frozenset({"limit"}),
        limits_rows=True,
        default_rows=DEFAULT_CATEGORIES,
    ),
    Tool(
        "list_planned",
        "Planned payments",
        "What is planned to be paid or received: the rules with their recurrence, the latest first.",
        "GET",
        build_company_path("planned_transactions"),
        PAGE_FIELDS,
        build_page_schema(PLANNED_TRANSACTION),
        defaults={"limit": DEFAULT_ROWS},
    ),
    Tool(
        "list_due",
        "Due payments",
        "Expected payments, and what became of each. originalDate is the date of settle_planned.",
        "GET",
        build_company_path("planned_transactions/due"),
        {**WINDOW_FIELDS, "limit": LIMIT_FIELD},
        build_object("items totalCount", items=build_array(DUE_OCCURRENCE), totalCount=COUNT),
        required_fields="startDate endDate",
        own_arguments=frozenset({"limit"}),
        limits_rows=True,
    ),
    Tool(
        "categorize",
        "Categorize transactions",
        "Gives the whole amount of each selected transaction to one category, whatever it had before.",
        "POST",
        build_company_path("transactions/categorize"),
        {
            "selection": SELECTION,
            "categoryId": ID,
            "plType": add_schema_description(PL_TYPE, "needed where the category has several"),
            "counterparty": COUNTERPARTY,
            "usingDateRule": DATE_RULE,
            "passThroughTax": NUMBER,
        },
        build_object("affected", affected=allow_null(COUNT)),
        writes=True,
        overwrites=True,
        lists_changes=True,
        required_fields="selection categoryId",
    ),
    Tool(
        "create_rule",
        "Create a categorization rule",
        "A rule that categorizes what arrives from now on: where all its conditions hold, its action is done.",
        "POST",
        build_company_path("categorization_rules"),
        {
            "name": TEXT,
            "conditions": CONDITIONS,
            "action": build_object(
                "categoryId",
                categoryId=ID,
                plType=PL_TYPE,
                counterparty=COUNTERPARTY,
                usingDateRule=DATE_RULE,
                passThroughTaxPercent=NUMBER,
            ),
            "enabled": FLAG,
            "order": COUNT,
        },
        build_object("id", id=TEXT, name=TEXT),
        writes=True,
        required_fields="name conditions action",
    ),
    Tool(
        "link_transfer",
        "Link a transfer",
        "Two transactions of two accounts are the legs of one transfer, and no income or expense.",
        "POST",
        build_company_path("transactions/link_transfer"),
        {
            "sourceTransactionId": ID,
            "sourceCategorizationId": add_schema_description(
                ID, "a part of it; its open remainder where it is left out"
            ),
            "targetTransactionId": ID,
            "force": add_schema_description(FLAG, "although the amounts differ"),
        },
        build_object(success=FLAG),
        writes=True,
        required_fields="sourceTransactionId targetTransactionId",
    ),
    Tool(
        "plan_payment",
        "Plan a payment",
        "Plans money in or out, once or recurring; it counts in the forecast from then on.",
        "POST",
        build_company_path("planned_transactions"),
        {
            "name": TEXT,
            "startDate": DAY,
            "amountValue": AMOUNT,
            "amountCurrency": TEXT,
            "accountId": {"type": ["string", "null"], "format": "uuid"},
            "categoryId": ID,
            "counterparty": COUNTERPARTY,
            "recurrence": RECURRENCE,
            "usingDateRule": DATE_RULE,
            "passThroughTaxAmount": TEXT,
            "autoSettle": FLAG,
            "settledBy": add_schema_description(
                build_enum("transaction", "category"), "category: a month's total of its category"
            ),
        },
        PLANNED_TRANSACTION | {"required": ["id"]},
        writes=True,
        required_fields="name startDate amountValue accountId",
    ),
    Tool(
        "settle_planned",
        "Settle a planned payment",
        "Says that a transaction is what was planned for a date, which leaves the forecast.",
        "POST",
        build_company_path("planned_transactions/{plannedTransactionId}/settle"),
        {"plannedTransactionId": ID, "date": add_schema_description(DAY, "that the rule names"), "transactionId": ID},
        PLANNED_TRANSACTION | {"required": ["id"]},
        writes=True,
        required_fields="plannedTransactionId date transactionId",
    ),
)
TOOLS_BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
