"""What transactions were for: splitting one, categorizing and uncategorizing many, and who still waits."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.fields import number
from companies.api.serializers import SUCCESS, Success
from companies.errors import Missing
from companies.permissions import Permission
from ledger import categorizing, splitting, transfers, uncategorizing
from ledger.categorizing import SplitExceedsAmount, TransactionLinked
from ledger.models import Transaction
from ledger.posting import RateMissing
from ledger.reading import statuses
from ledger.serializers import transactions as shapes
from ledger.serializers.selections import as_id, selected
from ledger.serializers.transaction_shape import TransactionShape
from ledger.views.base import PERIODS, LedgerViewSet


class CategorizationViewSet(LedgerViewSet):
    schema_tags = ["Categorizations"]
    schema_noun = "transactions"
    refuses = {
        "replace": [SplitExceedsAmount, TransactionLinked, *PERIODS, RateMissing],
        "categorize": [SplitExceedsAmount, TransactionLinked, *PERIODS, RateMissing],
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
        they are (409 `transaction_linked`)."""
        row = self.found(Transaction.objects, transaction_id, locked=True)
        self.unless_stale(row)
        given = shapes.given_parts(self.parsed(shapes.CategorizationMap))
        self.ignored((set(request.data) - {"categorizations"}) | shapes.unknown_names(request.data))
        splitting.replace_parts(company=self.company, row=row, stamp=self.stamp, given=given)
        row.refresh_from_db(fields=["last_updated_time"])
        return self.one(row, TransactionShape)

    @extend_schema(
        request=shapes.CategorizeRequest,
        responses=shapes.CategorizeResult,
    )
    def categorize(self, request: Request, company_id: str) -> Response:
        """Gives the whole amount of each selected transaction to one category; legs of transfers stay, and the category
        gets the rest."""
        values = self.parsed(shapes.CategorizeRequest)
        affected = categorizing.categorize(
            company=self.company,
            rows=selected(self, values["selection"]),
            stamp=self.stamp,
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
        rows = selected(self, self.parsed(shapes.UncategorizeRequest)["selection"])
        done = uncategorizing.uncategorize(company=self.company, rows=rows, stamp=self.stamp)
        return Response(
            {
                "success": True,
                "affected": len(done.affected),
                "countersCreated": done.counters_created,
                "countersSkipped": done.counters_skipped,
            }
        )

    @extend_schema(operation_id="getCategorizationStatus", request=shapes.IdsRequest, responses=shapes.StatusResult)
    def categorization_status(self, request: Request, company_id: str) -> Response:
        """Which of up to 10,000 transactions still await categorization, in the order asked, and the amount of each.
        Unknown ids are in neither answer."""
        asked = self.parsed(shapes.IdsRequest)["transaction_ids"]
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


class TransferViewSet(LedgerViewSet):
    schema_tags = ["Transfers"]
    schema_noun = "transfer"
    refuses = {
        "link": [
            transfers.AlreadyLinked,
            transfers.SameAccount,
            transfers.SameSign,
            transfers.SourceClosed,
            transfers.TargetClosed,
            transfers.AmountsDiffer,
            RateMissing,
        ],
        "unlink": [transfers.NotLinked],
    }
    permission_for = dict.fromkeys(("link", "unlink"), Permission.TRANSACTIONS_WRITE)

    @extend_schema(request=shapes.LinkRequest, responses=Success)
    def link(self, request: Request, company_id: str) -> Response:
        """Links two transactions as the legs of one transfer: a part of the source (its open remainder where
        `sourceCategorizationId` is null) and the open remainder of the target. 200 also where this very pair is linked.

        In this order: 404; 409 `already_linked`; 400 `transfer_same_account`, `transfer_same_sign`,
        `transfer_source_closed`, `transfer_target_closed`, `transfer_amounts_differ` (lifted by `force`)."""
        values = self.parsed(shapes.LinkRequest)
        part = values.get("source_categorization_id")
        transfers.link(
            company=self.company,
            stamp=self.stamp,
            source_id=self.known(values["source_transaction_id"]),
            source_part_id=None if part is None else self.known(part),
            target_id=self.known(values["target_transaction_id"]),
            force=values.get("force", False),
        )
        return Response(SUCCESS)

    @extend_schema(request=shapes.UnlinkRequest, responses=Success)
    def unlink(self, request: Request, company_id: str) -> Response:
        """Removes both legs of a transfer, named by either of them; their parts are open again."""
        values = self.parsed(shapes.UnlinkRequest)
        transfers.unlink(
            company=self.company,
            stamp=self.stamp,
            transaction_id=self.known(values["transaction_id"]),
            part_id=self.known(values["categorization_id"]),
        )
        return Response(SUCCESS)

    def known(self, text: str) -> UUID:
        """An id of a body that is answered with 404, like one in the path, where it is malformed."""
        found = as_id(text)
        if found is None:
            raise Missing
        return found
