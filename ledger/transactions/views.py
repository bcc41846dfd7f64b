"""REST: transactions and transfers."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.api.filters import refuse_repeated_parameters
from companies.api.openapi.schema import PAGING_PARAMETERS
from companies.api.pagination import (
    build_after_condition,
    build_next_link,
    decode_cursor,
    encode_cursor,
    parse_cursor_values,
    parse_page_limit,
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
    description="whether to tell in `X-Total-Count` and `X-Total-Amount` what the rows of all pages come to",
)


class TransactionViewSet(CompanyViewSet):
    schema_tags = ["Transactions"]
    resource, shape = Transaction, TransactionSerializer
    refuses = {
        "list": [MissingRateError],
        "create": [ExternalIdTaken],
        "update": [
            ExternalIdTaken,
            TransactionIsInitialBalance,
            SplitExceedsAmount,
            TransactionLinked,
            transactions.WrongDirection,
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
        """The company's transactions, latest first, a page at a time. Filters add up; unknown and malformed ones are
        refused. A cursor is stable: what is inserted meanwhile neither repeats nor hides a row."""
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
        """Books one transaction by hand. dataStartDate does not apply."""
        row = transactions.create_transaction(
            company=self.company, context=self.audit_context, values=self.parse_body(TransactionSerializer)
        )
        return self.respond_created(row)

    def retrieve(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """One transaction with its categorizations."""
        return self.respond_with_one(self.get_row(Transaction.objects, transaction_id))

    def update(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Changes the fields that are sent. While it is linked, account, amount and currency stay
        (409 `transaction_linked`); an initial balance is changed through its account."""
        values = self.parse_body(TransactionSerializer, partial=True)
        row = transactions.update_transaction(
            company=self.company, context=self.audit_context, transaction_id=transaction_id, values=values
        )
        return self.respond_with_one(row)

    def destroy(self, request: Request, company_id: str, transaction_id: str) -> Response:
        """Deletes a transaction; the partner of a linked one is unlinked."""
        transactions.delete_transaction(company=self.company, context=self.audit_context, transaction_id=transaction_id)
        return Response(SUCCESS)

    @extend_schema(
        operation_id="batchDeleteTransactions", request=serializers.IdsRequest, responses=serializers.DeleteResult
    )
    def batch_delete(self, request: Request, company_id: str) -> Response:
        """Deletes up to 10,000 transactions, all or none; partners of linked ones are unlinked."""
        ids = self.parse_body(serializers.IdsRequest)["transaction_ids"]
        count = transactions.delete_transactions(company=self.company, context=self.audit_context, ids=ids)
        return Response({"success": True, "deletedCount": count})


class TransferViewSet(CompanyViewSet):
    schema_tags = ["Transfers"]
    schema_noun = "transfer"
    refuses = {
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
        """Links two transactions as the legs of one transfer: a part of the source (its open remainder where
        `sourceCategorizationId` is null) and the open remainder of the target. 200 also where this very pair is linked.

        In this order: 404; 409 `transaction_is_initial_balance`, `already_linked`; 400 `transfer_same_account`,
        `transfer_same_sign`, `transfer_source_closed`, `transfer_target_closed`, `transfer_amounts_differ` (lifted by
        `force`)."""
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
        """Removes both legs of a transfer, named by either of them; their parts are open again."""
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
