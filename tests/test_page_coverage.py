"""Whatever a member may do through the API, a page can do: each operation of the document and the page that does it.

The table is read from what pages show and send, and not from the code; an operation that stands in neither table fails
here, as does the name of a page that is not there.
"""

from typing import Any

from django.urls import get_resolver

from tests.test_permissions import NEEDS, OPERATIONS, OUTSIDE

# Below /companies/{companyId}, with {} for an id: the name of the page of each method.
PAGE_OF: dict[str, dict[str, str]] = {
    "": {"GET": "company-settings", "PUT": "company-settings", "DELETE": "sandbox-delete"},
    "copy": {"POST": "sandbox-new"},
    "logo": {"PUT": "company-logo", "DELETE": "company-logo"},
    "members": {"GET": "members", "POST": "members"},
    "members/{}": {"GET": "member-permissions", "PUT": "member-permissions", "DELETE": "member-remove"},
    "members/{}/resend": {"POST": "member-resend"},
    "members/me": {"DELETE": "leave"},
    "api_keys": {"GET": "api-keys", "POST": "api-key-new"},
    "api_keys/{}": {"GET": "api-keys", "DELETE": "api-key-revoke"},
    "connected_apps": {"GET": "api-keys"},
    "connected_apps/{}": {"DELETE": "app-disconnect"},
    "audit_log": {"GET": "activity"},
    "accounts": {"GET": "accounts", "POST": "account-new"},
    "accounts/{}": {"GET": "account", "PUT": "account-edit", "DELETE": "account-delete"},
    "accounts/{}/archive": {"PUT": "account-archive"},
    "accounts/{}/unarchive": {"PUT": "account-archive"},
    "accounts/{}/change_group": {"PUT": "account-groups"},
    "accounts/{}/initial_balance": {"GET": "account", "PUT": "account-initial"},
    "accounts/{}/reconciliation": {"GET": "account"},
    "rates": {"GET": "exchange-rates"},
    "closings": {"GET": "closings", "POST": "closings"},
    "closings/{}": {"GET": "closing"},
    "closings/{}/reopen": {"POST": "closing"},
    "closings/{}/differences": {"GET": "closing"},
    "closings/{}/links": {"GET": "closing-links", "POST": "closing-links"},
    "closings/{}/links/{}": {"DELETE": "closing-link-revoke"},
    "reports/{}/commentary": {"GET": "report", "PUT": "report"},
    "reports/{}/links": {"GET": "report-links", "POST": "report-links"},
    "reports/{}/links/{}": {"DELETE": "report-link-revoke"},
    "account_groups": {"GET": "account-groups", "POST": "account-group-new"},
    "account_groups/{}": {"GET": "account-groups", "PUT": "account-group", "DELETE": "account-group-delete"},
    "transactions": {"GET": "transactions", "POST": "transaction-new"},
    "transactions/{}": {"GET": "transaction", "PUT": "transaction-edit", "DELETE": "transaction-delete"},
    "transactions/{}/categorizations": {"PUT": "transaction-split"},
    "transactions/import": {"POST": "import-check"},
    "transactions/batch_delete": {"POST": "transactions"},
    "transactions/categorize": {"POST": "transactions"},
    "transactions/uncategorize": {"POST": "transactions"},
    "transactions/link_transfer": {"POST": "transaction-link"},
    "transactions/unlink_transfer": {"POST": "transaction-unlink"},
    "transactions/proposals": {"POST": "inbox"},
    "transactions/transfer_proposals": {"POST": "inbox"},
    "statements": {"POST": "statement-check"},
    "categorization_rules": {"GET": "rules", "POST": "rule-new"},
    "categorization_rules/{}": {"GET": "rules", "PUT": "rule", "DELETE": "rule-delete"},
    "categorization_rules/order": {"PUT": "rule-move"},
    "categorization_rules/preview": {"POST": "rules"},
    "categorization_rules/from_transaction": {"POST": "rule-new"},
    "categorization_rules/suggestions": {"GET": "rules-suggested"},
    "categorization_rules/apply": {"POST": "rules-apply"},
    "categorization_runs/{}": {"DELETE": "rules-undo"},
    "imports": {"GET": "imports"},
    "imports/{}": {"GET": "imports", "DELETE": "import-undo"},
    "categories": {"GET": "categories", "POST": "category-new"},
    "categories/{}": {"GET": "categories", "PUT": "category", "DELETE": "category-delete"},
    "counterparties": {"GET": "counterparties", "POST": "counterparty-new"},
    "counterparties/{}": {"GET": "counterparties", "PUT": "counterparty", "DELETE": "counterparty-delete"},
    "files": {"GET": "documents", "POST": "documents"},
    "files/{}": {"GET": "document", "PUT": "document", "DELETE": "document-delete"},
    "files/{}/content": {"GET": "document-content"},
    "files/{}/plan": {"POST": "document-plan"},
    "planned_transactions": {"GET": "planned-rules", "POST": "planned-new"},
    "planned_transactions/{}": {"GET": "planned-one", "PUT": "planned-edit", "DELETE": "planned-delete"},
    "planned_transactions/due": {"GET": "planned"},
    "planned_transactions/matches": {"POST": "inbox"},
    "planned_transactions/proposals": {"POST": "planned-proposals"},
    "planned_transactions/{}/occurrences": {"GET": "planned-one"},
    "planned_transactions/{}/settle": {"POST": "occurrence-settle"},
    "planned_transactions/{}/unsettle": {"POST": "occurrence-unsettle"},
    "planned_transactions/{}/write_off": {"POST": "occurrence-write-off"},
    "planned_transactions/{}/overrides/{}": {"PUT": "occurrence", "DELETE": "occurrence-restore"},
    "plan_items": {"GET": "plan", "POST": "plan-fill"},
    "plan_items/proposals": {"POST": "plan"},
    "plan_items/{}": {"GET": "plan", "PUT": "plan-item", "DELETE": "plan-item-delete"},
    "scenarios": {"GET": "scenarios", "POST": "scenario-new"},
    "scenarios/{}": {"GET": "scenario", "PUT": "scenario", "DELETE": "scenario-delete"},
    "scenarios/{}/adopt": {"POST": "scenario-adopt", "DELETE": "scenario-undo"},
    "products": {"GET": "products", "POST": "product-new"},
    "products/{}": {"GET": "products", "PUT": "product-edit", "DELETE": "product-delete"},
    "product_groups": {"GET": "products", "POST": "product-group-new"},
    "product_groups/{}": {"GET": "products", "PUT": "product-group-edit", "DELETE": "product-group-delete"},
    "subscriptions": {"GET": "customer", "POST": "subscription-new"},
    "subscriptions/{}": {"GET": "customer", "PUT": "subscription-edit", "DELETE": "subscription-delete"},
    "subscription_events": {"GET": "subscription-events", "POST": "subscription-event-new"},
    "subscription_events/import_file": {"POST": "subscription-event-import-check"},
    "subscription_event_imports": {"GET": "subscription-event-imports"},
    "subscription_event_imports/{}": {"GET": "subscription-event-import", "DELETE": "subscription-event-import-undo"},
    "subscription_events/{}": {"GET": "subscription-events", "DELETE": "subscription-event-retract"},
    "data/monthlyData": {"POST": "recurring-revenue"},
    "data/recurringRevenueSummary": {"POST": "recurring-revenue"},
    "data/cohorts": {"POST": "recurring-revenue"},
    "data/accountBalanceByAccount": {"POST": "company"},
    "data/balanceByCashType": {"POST": "company"},
    "data/cashFlowTimeSeries": {"POST": "company"},
    "data/forecastCashFlowTimeSeries": {"POST": "company"},
    "data/forecastBalanceTimeSeries": {"POST": "company"},
    "data/cashBridge": {"POST": "cash-bridge"},
    "data/openTransactions": {"POST": "company"},
    "data/runway": {"POST": "company"},
    "data/aging": {"POST": "receivables"},
    "receivables": {"GET": "receivables"},
    "payables": {"GET": "payables"},
    "receivables/import": {"POST": "receivables-import-check"},
    "invoice_imports": {"GET": "invoice-imports"},
    "invoice_imports/{}": {"GET": "invoice-import", "DELETE": "invoice-import-undo"},
    "payables/import": {"POST": "payables-import-check"},
    "data/revenueExpensesBar": {"POST": "company"},
    "data/profitAndLoss": {"POST": "profit-and-loss"},
    "exports/transactions.csv": {"GET": "transactions-export"},
    "exports/transactions.xlsx": {"GET": "transactions-export"},
    "exports/journal.beancount": {"GET": "transactions-export"},
    "exports/journal.hledger": {"GET": "transactions-export"},
    "exports/receivables.csv": {"GET": "receivables-csv"},
    "exports/payables.csv": {"GET": "payables-csv"},
    "exports/profitAndLoss.xlsx": {"GET": "profit-and-loss-xlsx"},
    "webhook_endpoints": {"GET": "webhooks", "POST": "webhook-new"},
    "webhook_endpoints/{}": {"GET": "webhook", "PUT": "webhook", "DELETE": "webhook-delete"},
    "webhook_endpoints/{}/roll_secret": {"POST": "webhook-roll"},
    "webhook_endpoints/{}/test": {"POST": "webhook-test"},
    "webhook_endpoints/{}/deliveries": {"GET": "webhook"},
    "webhook_endpoints/{}/deliveries/{}/redeliver": {"POST": "webhook-redeliver"},
    "notifications": {"GET": "notifications"},
    "notifications/{}/read": {"PUT": "notification-read"},
    "notifications/read_all": {"POST": "notifications"},
    "notifications/batch_delete": {"POST": "notification-delete"},
}
# Those without a page, each with its reason.
OPERATIONS_WITHOUT_PAGE: dict[tuple[str, str], str] = {
    ("events", "GET"): "the log for programs that follow it; people read it as activity",
    ("transactions/categorization_status", "POST"): "a question of programs; each list of pages marks what is open",
    ("subscription_events/import", "POST"): "thousands of events come from billing systems; people add single ones",
}
OTHER_OPERATIONS = {("/companies", "GET"): "home", ("/companies", "POST"): "company-new"}
# Pages that show something besides, to those who may see that too; and an offer that is worth something to who writes.
SHOWN_ON_PAGE = {
    ("accounts/{}/reconciliation", "GET"): "account",
    ("planned_transactions/matches", "POST"): "inbox",
    ("planned_transactions/proposals", "POST"): "planned-proposals",
    ("categorization_rules/from_transaction", "POST"): "rule-new",
}


def list_pages() -> dict[str, Any]:
    """Every page below /app by its name."""
    found: dict[str, Any] = {}
    waiting = [("", pattern) for pattern in get_resolver().url_patterns]
    while waiting:
        before, pattern = waiting.pop()
        address = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            waiting += [(address, each) for each in pattern.url_patterns]
        elif address.startswith("app/") and pattern.name:
            found[pattern.name] = pattern.callback
    return found


def test_every_operation_has_a_page_or_a_reason():
    done = {(path, method) for path, methods in PAGE_OF.items() for method in methods}
    assert done & OPERATIONS_WITHOUT_PAGE.keys() == set()
    assert done | OPERATIONS_WITHOUT_PAGE.keys() == set(OPERATIONS)
    assert all(OPERATIONS_WITHOUT_PAGE.values())
    assert set(OTHER_OPERATIONS) == set(OUTSIDE)


def test_every_page_in_the_table_exists():
    named = {name for methods in PAGE_OF.values() for name in methods.values()} | set(OTHER_OPERATIONS.values())
    assert named - list_pages().keys() == set()


def test_page_requires_the_permission_of_its_operation():
    """Who may do it through the API may do it there, and nobody else; pages that look at their visitors themselves are
    tested where they are."""
    there, wrong = list_pages(), {}
    for path, methods in PAGE_OF.items():
        for method, name in methods.items():
            needed = getattr(there[name], "permission_for", None)
            if needed and NEEDS[path][method] not in set(needed.values()) and SHOWN_ON_PAGE.get((path, method)) != name:
                wrong[f"{method} {path}"] = (name, NEEDS[path][method], needed)
    assert wrong == {}
