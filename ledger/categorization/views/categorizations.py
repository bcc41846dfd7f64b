"""REST: replace the categorizations of a transaction, categorize and uncategorize many, list uncategorized ones."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.fields import to_json_number
from companies.permissions import Permission
from ledger.categorization.actions import bulk_categorization, split, uncategorization
from ledger.categorization.serializers import categorizations
from ledger.models import SplitExceedsAmount, Transaction, TransactionIsInitialBalance, TransactionLinked
from ledger.recognition.actions.postings import MissingRateError
from ledger.recognition.service_periods import PERIOD_ERRORS
from ledger.transactions.queries.selections import ConfirmationRequired
from ledger.transactions.representation import list_categorization_statuses
from ledger.transactions.serializers import CategorizationStatusResult, IdsRequest, TransactionSerializer


class CategorizationViewSet(CompanyViewSet):
    schema_tags = ["Categorizations"]
    schema_noun = "transactions"
    resource = Transaction
    errors_for = {
        "replace": [
            TransactionIsInitialBalance,
            SplitExceedsAmount,
            TransactionLinked,
            *PERIOD_ERRORS,
            MissingRateError,
        ],
        "categorize": [ConfirmationRequired, SplitExceedsAmount, TransactionLinked, *PERIOD_ERRORS, MissingRateError],
        "uncategorize": [ConfirmationRequired],
    }
    permission_for = {
        "categorization_status": Permission.TRANSACTIONS_READ,
        **dict.fromkeys(("replace", "categorize", "uncategorize"), Permission.TRANSACTIONS_WRITE),
    }

    @extend_schema(
        operation_id="replaceCategorizations",
        request=categorizations.CategorizationMap,
        responses=TransactionSerializer,
    )
    def replace(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Replace all categorizations of a transaction.

        `plSplit` and `passThroughTax` have the currency and sign of the transaction. Together they must not exceed its
        amount (400 `split_exceeds_amount`). Send legs of transfers unchanged (409 `transaction_linked`). You cannot
        change the categorization of an opening balance (409 `transaction_is_initial_balance`). Sending the
        same categorizations with their ids changes nothing and creates no event. Also needs `transactions:read`.
        """
        inputs = categorizations.to_categorization_inputs(self.parse_body(categorizations.CategorizationMap))
        if inputs:
            self.require_permission(Permission.TRANSACTIONS_READ)
        row = split.replace_categorizations(
            company=self.company, context=self.audit_context, transaction_id=transaction_id, inputs=inputs
        )
        return self.respond_with_one(row, TransactionSerializer)

    @extend_schema(
        request=categorizations.CategorizeRequest,
        responses=categorizations.CategorizeResult,
    )
    def categorize(self, request: Request, company_id: str) -> Response:
        """Categorize the whole amount of each selected transaction.

        Legs of transfers stay; only the remainder is categorized. Opening balances are skipped. Also needs
        `transactions:read` if you send `passThroughTax`.
        """
        values = self.parse_body(categorizations.CategorizeRequest)
        if values.get("pass_through_tax"):
            self.require_permission(Permission.TRANSACTIONS_READ)
        affected = bulk_categorization.categorize_transactions(
            company=self.company,
            context=self.audit_context,
            selection=values["selection"],
            **categorizations.to_categorize_arguments(values),
        )
        return Response({"success": True, "affected": affected})

    @extend_schema(
        request=categorizations.UncategorizeRequest,
        responses=categorizations.UncategorizeResult,
    )
    def uncategorize(self, request: Request, company_id: str) -> Response:
        """Remove the categorizations of the selected transactions.

        Transfers are unlinked, so their other leg becomes uncategorized too (`countersCreated`), unless you selected it
        (`countersSkipped`).
        """
        selection = self.parse_body(categorizations.UncategorizeRequest)["selection"]
        result = uncategorization.uncategorize_transactions(
            company=self.company, context=self.audit_context, selection=selection
        )
        return Response(
            {
                "success": True,
                "affected": len(result.affected_ids),
                "countersCreated": result.counters_created,
                "countersSkipped": result.counters_skipped,
            }
        )

    @extend_schema(operation_id="getCategorizationStatus", request=IdsRequest, responses=CategorizationStatusResult)
    def categorization_status(self, request: Request, company_id: str) -> Response:
        """Get which of up to 10,000 transactions are uncategorized, and their amounts. Unknown IDs are omitted."""
        requested_ids = self.parse_body(IdsRequest)["transaction_ids"]
        status_by_id = list_categorization_statuses(
            company_id=self.company.id,
            ids={transaction_id for transaction_id in requested_ids.values() if transaction_id},
        )
        known_statuses = {
            transaction_id: status_by_id[transaction_id]
            for transaction_id in requested_ids.values()
            if transaction_id in status_by_id
        }
        return Response(
            {
                "openTransactionIds": [
                    str(transaction_id) for transaction_id, status in known_statuses.items() if status.is_open
                ],
                "amountsById": {
                    str(transaction_id): {"value": to_json_number(status.amount), "currency": status.currency}
                    for transaction_id, status in known_statuses.items()
                },
            }
        )
