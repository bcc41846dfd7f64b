"""Transactions: the list, single ones, and deleting many."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.document.schema import PAGING
from companies.api.filters import refuse_repeated
from companies.api.pagination import after, checked, decode, encode, next_link, page_limit
from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import CompanyViewSet, granted
from companies.errors import Missing
from companies.models import id_from
from companies.permissions import Permission
from ledger.models import ExternalIdTaken, InitialBalanceFixed, SplitExceedsAmount, Transaction, TransactionLinked
from ledger.recognition.dating import PERIODS
from ledger.recognition.posting import NoRate
from ledger.transactions import booking, shapes, transfers
from ledger.transactions.answers import read, rendered
from ledger.transactions.filters import NAMES, ORDERS, PARAMETERS, filtered, flag_of, narrowed, order_of
from ledger.transactions.listed import total_of
from ledger.transactions.shapes import TransactionShape

SORTED_BY = {"date": "date", "amount_value": "amountValue", "id": "id"}
TOTAL = OpenApiParameter(
    "total",
    {"type": "boolean"},
    description="whether to tell in `X-Total-Count` and `X-Total-Amount` what the rows of all pages come to",
)
SORT = OpenApiParameter("sort", enum=list(ORDERS), description="`-date` where it is left out")


class TransactionViewSet(CompanyViewSet):
    schema_tags = ["Transactions"]
    resource, shape = Transaction, TransactionShape
    refuses = {
        "list": [NoRate],
        "create": [ExternalIdTaken],
        "update": [
            ExternalIdTaken,
            InitialBalanceFixed,
            SplitExceedsAmount,
            TransactionLinked,
            booking.OtherDirection,
            *PERIODS,
            NoRate,
        ],
    }
    permission_for = {
        **granted(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE),
        "batch_delete": Permission.TRANSACTIONS_WRITE,
    }

    @extend_schema(parameters=[*PARAMETERS, SORT, TOTAL, *PAGING])
    def list(self, request: Request, company_id: str) -> Response:
        """The company's transactions, latest first, a page at a time. Filters add up; unknown and malformed ones are
        refused. A cursor is stable: what is inserted meanwhile neither repeats nor hides a row."""
        refuse_repeated(request.query_params, but={*NAMES, "total"})
        params = request.query_params.copy()
        limit, cursor = page_limit(params), params.get("cursor")
        sort = params.get("sort", "-date")
        order = order_of(sort)
        wanted = flag_of("total", params)
        for name in ("limit", "cursor", "sort", "total"):
            params.pop(name, None)
        headers = {}
        rows = Transaction.objects.of(self.company.id)
        if wanted:
            total = total_of(filtered(rows, params, company_id=self.company.id), company=self.company)
            headers = {"X-Total-Count": str(total.count), "X-Total-Amount": f"{total.amount:f}"}
        rows = narrowed(rows, params, company_id=self.company.id)
        if cursor is not None:
            rows = rows.filter(after(order, checked(rows, order, decode(request, order, cursor))))
        page = read(rows.order_by(*order)[: limit + 1], company_id=self.company.id)
        if len(page) > limit:
            page.pop()
            last = [page[-1][SORTED_BY[name.lstrip("-")]] for name in order]
            headers["Link"] = next_link(request, encode(request, order, last))
        return Response(rendered(page), headers=headers)

    def create(self, request: Request, company_id: str) -> Response:
        """Books one transaction by hand. dataStartDate does not apply."""
        row = booking.book(company=self.company, stamp=self.stamp, values=self.parsed(TransactionShape))
        return self.created(row)

    def retrieve(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """One transaction with its categorizations."""
        return self.one(self.found(Transaction.objects, transaction_id))

    def update(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Changes the fields that are sent. While it is linked, account, amount and currency stay
        (409 `transaction_linked`); an initial balance is changed through its account."""
        values = self.parsed(TransactionShape, partial=True)
        row = booking.change(company=self.company, stamp=self.stamp, transaction_id=transaction_id, values=values)
        return self.one(row)

    def destroy(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Deletes a transaction; the partner of a linked one is unlinked."""
        booking.remove_one(company=self.company, stamp=self.stamp, transaction_id=transaction_id)
        return Response(SUCCESS)

    @extend_schema(operation_id="batchDeleteTransactions", request=shapes.IdsRequest, responses=shapes.DeleteResult)
    def batch_delete(self, request: Request, company_id: str) -> Response:
        """Deletes up to 10,000 transactions, all or none; partners of linked ones are unlinked."""
        ids = self.parsed(shapes.IdsRequest)["transaction_ids"]
        count = booking.remove_many(company=self.company, stamp=self.stamp, ids=ids)
        return Response({"success": True, "deletedCount": count})


class TransferViewSet(CompanyViewSet):
    schema_tags = ["Transfers"]
    schema_noun = "transfer"
    refuses = {
        "link": [
            InitialBalanceFixed,
            transfers.AlreadyLinked,
            transfers.SameAccount,
            transfers.SameSign,
            transfers.SourceClosed,
            transfers.TargetClosed,
            transfers.AmountsDiffer,
            NoRate,
        ],
        "unlink": [transfers.NotLinked],
    }
    permission_for = dict.fromkeys(("link", "unlink"), Permission.TRANSACTIONS_WRITE)

    @extend_schema(request=shapes.LinkRequest, responses=Success)
    def link(self, request: Request, company_id: str) -> Response:
        """Links two transactions as the legs of one transfer: a part of the source (its open remainder where
        `sourceCategorizationId` is null) and the open remainder of the target. 200 also where this very pair is linked.

        In this order: 404; 409 `transaction_is_initial_balance`, `already_linked`; 400 `transfer_same_account`,
        `transfer_same_sign`, `transfer_source_closed`, `transfer_target_closed`, `transfer_amounts_differ` (lifted by
        `force`)."""
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
        found = id_from(text)
        if found is None:
            raise Missing
        return found
