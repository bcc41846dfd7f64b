"""What transactions were for: splitting one, categorizing and uncategorizing many, and who still waits."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.fields import number
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger.models import InitialBalanceFixed, SplitExceedsAmount, Transaction, TransactionLinked
from ledger.purposes import categorizing, shapes, splitting, uncategorizing
from ledger.recognition.dating import PERIODS
from ledger.recognition.posting import NoRate
from ledger.transactions.answers import statuses
from ledger.transactions.selections import ConfirmationRequired
from ledger.transactions.shapes import IdsRequest, StatusResult, TransactionShape


class CategorizationViewSet(CompanyViewSet):
    schema_tags = ["Categorizations"]
    schema_noun = "transactions"
    resource = Transaction
    refuses = {
        "replace": [InitialBalanceFixed, SplitExceedsAmount, TransactionLinked, *PERIODS, NoRate],
        "categorize": [ConfirmationRequired, SplitExceedsAmount, TransactionLinked, *PERIODS, NoRate],
        "uncategorize": [ConfirmationRequired],
    }
    permission_for = {
        "categorization_status": Permission.TRANSACTIONS_READ,
        **dict.fromkeys(("replace", "categorize", "uncategorize"), Permission.TRANSACTIONS_WRITE),
    }

    @extend_schema(
        operation_id="replaceCategorizations",
        request=shapes.CategorizationMap,
        responses=TransactionShape,
    )
    def replace(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Replaces the map of categorizations. `plSplit` and `passThroughTax` have the transaction's currency and sign;
        together they must not exceed its amount (400 `split_exceeds_amount`). Legs of transfers must be sent back as
        they are (409 `transaction_linked`); an initial balance keeps its own
        (409 `transaction_is_initial_balance`). Needs `transactions:read` too: which amounts are accepted tells
        the transaction's own."""
        given = shapes.given_parts(self.parsed(shapes.CategorizationMap))
        if given:
            self.require(Permission.TRANSACTIONS_READ)
        row = splitting.replace_parts(
            company=self.company, stamp=self.stamp, transaction_id=transaction_id, given=given
        )
        return self.one(row, TransactionShape)

    @extend_schema(
        request=shapes.CategorizeRequest,
        responses=shapes.CategorizeResult,
    )
    def categorize(self, request: Request, company_id: str) -> Response:
        """Gives the whole amount of each selected transaction to one category; legs of transfers stay, and the category
        gets the rest. Initial balances are passed by. With `passThroughTax` it needs `transactions:read` too."""
        values = self.parsed(shapes.CategorizeRequest)
        if values.get("pass_through_tax"):
            self.require(Permission.TRANSACTIONS_READ)
        affected = categorizing.categorize(
            company=self.company,
            stamp=self.stamp,
            selection=values["selection"],
            **shapes.choice_of(values),
        )
        return Response({"success": True, "affected": affected})

    @extend_schema(
        request=shapes.UncategorizeRequest,
        responses=shapes.UncategorizeResult,
    )
    def uncategorize(self, request: Request, company_id: str) -> Response:
        """Removes the categorizations of the selected transactions. The other leg of a removed transfer is removed too,
        so that its part is open again (`countersCreated`), unless it was selected itself (`countersSkipped`)."""
        selection = self.parsed(shapes.UncategorizeRequest)["selection"]
        done = uncategorizing.uncategorize(company=self.company, stamp=self.stamp, selection=selection)
        return Response(
            {
                "success": True,
                "affected": len(done.affected),
                "countersCreated": done.counters_created,
                "countersSkipped": done.counters_skipped,
            }
        )

    @extend_schema(operation_id="getCategorizationStatus", request=IdsRequest, responses=StatusResult)
    def categorization_status(self, request: Request, company_id: str) -> Response:
        """Which of up to 10,000 transactions still await categorization, in the order asked, and the amount of each.
        Unknown ids are in neither answer."""
        asked = self.parsed(IdsRequest)["transaction_ids"]
        found = statuses(company_id=self.company.id, ids={each for each in asked.values() if each})
        known = {each: found[each] for each in asked.values() if each in found}
        return Response(
            {
                "openTransactionIds": [str(each) for each, status in known.items() if status.is_open],
                "amountsById": {
                    str(each): {"value": number(status.amount), "currency": status.currency}
                    for each, status in known.items()
                },
            }
        )
