"""REST: transactions and transfers."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import (
    build_after_condition,
    build_next_link,
    decode_cursor,
    encode_cursor,
    parse_cursor_values,
    parse_page_limit,
    refuse_repeated_parameters,
)
from companies.api.serializers import SUCCESS, Success
from companies.errors import NotFoundError
from companies.models import parse_id
from companies.permissions import Permission
from ledger.models import (
    ExternalIdTaken,
    SplitExceedsAmount,
    Transaction,
    TransactionIsInitialBalance,
    TransactionLinked,
)
from ledger.recognition.actions.postings import MissingRateError
from ledger.recognition.service_periods import PERIOD_ERRORS
from ledger.transactions import serializers
from ledger.transactions.actions import transactions, transfers
from ledger.transactions.filters import (
    FILTER_NAMES,
    FILTER_PARAMETERS,
    SORT_PARAMETER,
    build_filterset,
    filter_transactions,
    parse_flag_parameter,
    parse_sort,
)
from ledger.transactions.queries.totals import compute_total
from ledger.transactions.representation import encode_json, list_transaction_dicts
from ledger.transactions.serializers import TransactionSerializer

FIELD_BY_SORT_COLUMN = {"date": "date", "amount_value": "amountValue", "id": "id"}
TOTAL_PARAMETER = OpenApiParameter(
    "total",
    {"type": "boolean"},
    description="Return the totals of all pages in the headers `X-Total-Count` and `X-Total-Amount`.",
)


class TransactionViewSet(CompanyViewSet):
    schema_tags = ["Transactions"]
    resource, shape = Transaction, TransactionSerializer
    errors_for = {
        "list": [MissingRateError],
        "create": [ExternalIdTaken],
        "update": [
            ExternalIdTaken,
            TransactionIsInitialBalance,
            SplitExceedsAmount,
            TransactionLinked,
            transactions.WrongDirection,
            transactions.SettlesTooMuch,
            transactions.OccurrenceSettled,
            *PERIOD_ERRORS,
            MissingRateError,
        ],
    }
    permission_for = {
        **build_crud_permissions(reads=Permission.TRANSACTIONS_READ, writes=Permission.TRANSACTIONS_WRITE),
        "batch_delete": Permission.TRANSACTIONS_WRITE,
    }

    @extend_schema(parameters=[*FILTER_PARAMETERS, SORT_PARAMETER, TOTAL_PARAMETER, *PAGING_PARAMETERS])
    def list(self, request: Request, company_id: str) -> Response:
        """List the company's transactions, newest first, one page at a time.

        Filters are combined with AND; unknown and malformed filters are rejected. New transactions do not affect
        the rows of a cursor."""
        refuse_repeated_parameters(request.query_params, allowed={*FILTER_NAMES, "total"})
        params = request.query_params.copy()
        limit, cursor = parse_page_limit(params), params.get("cursor")
        sort = params.get("sort", "-date")
        order = parse_sort(sort)
        needs_total = parse_flag_parameter("total", params)
        for name in ("limit", "cursor", "sort", "total"):
            params.pop(name, None)
        headers = {}
        rows = Transaction.objects.for_company(self.company.id)
        if needs_total:
            total = compute_total(build_filterset(rows, params, company_id=self.company.id), company=self.company)
            headers = {"X-Total-Count": str(total.count), "X-Total-Amount": f"{total.amount:f}"}
        rows = filter_transactions(rows, params, company_id=self.company.id)
        if cursor is not None:
            rows = rows.filter(
                build_after_condition(order, parse_cursor_values(rows, order, decode_cursor(request, order, cursor)))
            )
        page = list_transaction_dicts(rows.order_by(*order)[: limit + 1], company_id=self.company.id)
        if len(page) > limit:
            page.pop()
            last_values = [page[-1][FIELD_BY_SORT_COLUMN[name.lstrip("-")]] for name in order]
            headers["Link"] = build_next_link(request, encode_cursor(request, order, last_values))
        return Response(encode_json(page), headers=headers)

    def create(self, request: Request, company_id: str) -> Response:
        """Create a transaction. dataStartDate does not apply."""
        row = transactions.create_transaction(
            company=self.company, context=self.audit_context, values=self.parse_body(TransactionSerializer)
        )
        return self.respond_created(row)

    def retrieve(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Return a transaction with its categorizations."""
        return self.respond_with_one(self.get_row(Transaction.objects, transaction_id))

    def update(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Update the fields that are sent.

        The account, amount and currency of a linked transaction cannot change (409 `transaction_linked`). Change an
        opening balance with the endpoint of its account."""
        values = self.parse_body(TransactionSerializer, partial=True)
        row = transactions.update_transaction(
            company=self.company, context=self.audit_context, transaction_id=transaction_id, values=values
        )
        return self.respond_with_one(row)

    def destroy(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Delete a transaction. The other leg of a transfer is unlinked."""
        transactions.delete_transaction(company=self.company, context=self.audit_context, transaction_id=transaction_id)
        return Response(SUCCESS)

    @extend_schema(
        operation_id="batchDeleteTransactions", request=serializers.IdsRequest, responses=serializers.DeleteResult
    )
    def batch_delete(self, request: Request, company_id: str) -> Response:
        """Delete up to 10,000 transactions, all or none. The other legs of transfers are unlinked."""
        ids = self.parse_body(serializers.IdsRequest)["transaction_ids"]
        count = transactions.delete_transactions(company=self.company, context=self.audit_context, ids=ids)
        return Response({"success": True, "deletedCount": count})


class TransferViewSet(CompanyViewSet):
    schema_tags = ["Transfers"]
    schema_noun = "transfer"
    errors_for = {
        "link": [
            TransactionIsInitialBalance,
            transfers.AlreadyLinked,
            transfers.TransferSameAccount,
            transfers.TransferSameSign,
            transfers.TransferSourceClosed,
            transfers.TransferTargetClosed,
            transfers.TransferAmountsDiffer,
            MissingRateError,
        ],
        "unlink": [transfers.NotLinked],
    }
    permission_for = dict.fromkeys(("link", "unlink"), Permission.TRANSACTIONS_WRITE)

    @extend_schema(request=serializers.LinkRequest, responses=Success)
    def link(self, request: Request, company_id: str) -> Response:
        """Link two transactions as the legs of a transfer.

        Links a categorization of the source (its uncategorized amount if `sourceCategorizationId` is null) with the
        uncategorized amount of the target. Returns 200 if the two are already linked.

        Errors are checked in this order: 404; 409 `transaction_is_initial_balance`, `already_linked`; 400
        `transfer_same_account`, `transfer_same_sign`, `transfer_source_closed`, `transfer_target_closed`,
        `transfer_amounts_differ` (not with `force`)."""
        values = self.parse_body(serializers.LinkRequest)
        categorization_id = values.get("source_categorization_id")
        transfers.link_transfer(
            company=self.company,
            context=self.audit_context,
            source_id=self.parse_id_or_404(values["source_transaction_id"]),
            source_categorization_id=None if categorization_id is None else self.parse_id_or_404(categorization_id),
            target_id=self.parse_id_or_404(values["target_transaction_id"]),
            force=values.get("force", False),
        )
        return Response(SUCCESS)

    @extend_schema(request=serializers.UnlinkRequest, responses=Success)
    def unlink(self, request: Request, company_id: str) -> Response:
        """Unlink a transfer by either of its legs. Both amounts become uncategorized."""
        values = self.parse_body(serializers.UnlinkRequest)
        transfers.unlink_transfer(
            company=self.company,
            context=self.audit_context,
            transaction_id=self.parse_id_or_404(values["transaction_id"]),
            categorization_id=self.parse_id_or_404(values["categorization_id"]),
        )
        return Response(SUCCESS)

    def parse_id_or_404(self, text: str) -> UUID:
        """Parse an id of the body; a malformed one is answered with 404, like one in the path. Raises NotFoundError."""
        parsed_id = parse_id(text)
        if parsed_id is None:
            raise NotFoundError
        return parsed_id
