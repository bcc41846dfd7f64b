"""Transactions: the list, single ones, and deleting many."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.filters import refuse_repeated
from companies.api.pagination import after, checked, decode, encode, next_link, page_limit
from companies.api.schema import PAGING
from companies.api.serializers import SUCCESS, Success
from companies.permissions import Permission
from ledger import booking
from ledger.categorizing import SplitExceedsAmount, TransactionLinked
from ledger.filters import NAMES, ORDERS, PARAMETERS, narrowed, order_of
from ledger.models import Transaction
from ledger.posting import RateMissing
from ledger.reading import read, rendered
from ledger.serializers import transactions as shapes
from ledger.serializers.selections import known_ids
from ledger.serializers.transaction_shape import TransactionShape
from ledger.views.base import PERIODS, LedgerViewSet

SORTED_BY = {"date": "date", "amount_value": "amountValue", "id": "id"}
SORT = OpenApiParameter("sort", enum=list(ORDERS), description="`-date` where it is left out")


class TransactionViewSet(LedgerViewSet):
    schema_tags = ["Transactions"]
    refuses = {
        "create": [booking.ExternalIdTaken],
        "update": [
            booking.ExternalIdTaken,
            booking.InitialBalanceFixed,
            SplitExceedsAmount,
            TransactionLinked,
            *PERIODS,
            RateMissing,
        ],
    }
    permission_for = {
        **dict.fromkeys(("list", "retrieve"), Permission.TRANSACTIONS_READ),
        **dict.fromkeys(("create", "update", "destroy", "batch_delete"), Permission.TRANSACTIONS_WRITE),
    }

    @extend_schema(
        parameters=[*PARAMETERS, SORT, *PAGING],
        responses=TransactionShape(many=True),
    )
    def list(self, request: Request, company_id: str) -> Response:
        """The company's transactions, latest first, a page at a time. Filters add up; unknown and malformed ones are
        refused. A cursor is stable: what is inserted meanwhile neither repeats nor hides a row."""
        refuse_repeated(request.query_params, but=NAMES)
        params = request.query_params.copy()
        limit, cursor = page_limit(params), params.get("cursor")
        sort = params.get("sort", "-date")
        order = order_of(sort)
        for name in ("limit", "cursor", "sort"):
            params.pop(name, None)
        rows = narrowed(Transaction.objects.of(self.company.id), params)
        if cursor is not None:
            rows = rows.filter(after(order, checked(rows, order, decode(request, order, cursor))))
        page = read(rows.order_by(*order)[: limit + 1], company_id=self.company.id)
        headers = {}
        if len(page) > limit:
            page.pop()
            last = [page[-1][SORTED_BY[name.lstrip("-")]] for name in order]
            headers["Link"] = next_link(request, encode(request, order, last))
        return Response(rendered(page), headers=headers)

    @extend_schema(request=TransactionShape, responses={201: TransactionShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Books one transaction by hand. dataStartDate does not apply."""
        row = booking.book(company=self.company, stamp=self.stamp, values=self.parsed(TransactionShape))
        location = f"/companies/{self.company.id}/transactions/{row.id}"
        return self.one(row, TransactionShape, status=201, location=location)

    @extend_schema(responses=TransactionShape)
    def retrieve(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """One transaction with its categorizations."""
        return self.one(self.found(Transaction.objects, transaction_id), TransactionShape)

    @extend_schema(request=TransactionShape(partial=True), responses=TransactionShape)
    def update(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Changes the fields that are sent. While it is linked, account, amount and currency stay
        (409 `transaction_linked`); an initial balance is changed through its account."""
        row = self.locked(transaction_id)
        values = self.parsed(TransactionShape, partial=True)
        changed = booking.change(row=row, company=self.company, stamp=self.stamp, values=values)
        return self.one(changed, TransactionShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Deletes a transaction; the partner of a linked one is unlinked."""
        row = self.locked(transaction_id)
        booking.remove_one(row=row, company=self.company, stamp=self.stamp)
        return Response(SUCCESS)

    @extend_schema(operation_id="batchDeleteTransactions", request=shapes.IdsRequest, responses=shapes.DeleteResult)
    def batch_delete(self, request: Request, company_id: str) -> Response:
        """Deletes up to 10,000 transactions, all or none; partners of linked ones are unlinked."""
        asked = self.parsed(shapes.IdsRequest)["transaction_ids"]
        ids = known_ids(self, asked, pointer="#/transactionIds")
        count = booking.remove_many(company=self.company, stamp=self.stamp, ids=ids)
        return Response({"success": True, "deletedCount": count})

    def locked(self, transaction_id: str) -> Transaction:
        row: Any = self.found(Transaction.objects, transaction_id, locked=True)
        self.unless_stale(row)
        return row
