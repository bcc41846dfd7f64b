"""Rules, trying and applying them, and what the company's history proposes."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.serializers import SUCCESS, Success
from companies.api.viewsets import CompanyViewSet
from companies.errors import FieldErrors, unknown_at
from companies.permissions import Permission
from ledger.calc.money import format_amount
from ledger.models import CategorizationRule, CategorizationRun
from ledger.purposes.categorizing import PlTypeNeeded, PlTypeNotAllowed
from ledger.recognition.dating import PERIODS
from ledger.rules import applying, learning, ruling, shapes
from ledger.rules.habits import proposed
from ledger.rules.pairing import MOST_PAIRS, transfer_pairs
from ledger.rules.rulebook import ready, rulebook
from ledger.transactions.selections import ConfirmationRequired

READ, WRITE = Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE
CHECKS = (PlTypeNeeded, PlTypeNotAllowed, *PERIODS)


class RuleViewSet(CompanyViewSet):
    schema_tags = ["Categorization rules"]
    schema_noun = "categorizationRule"
    resource = CategorizationRule
    refuses = {
        "create": [ruling.TooManyRules, *CHECKS],
        "update": CHECKS,
        "preview": CHECKS,
        "apply": [ConfirmationRequired],
        "from_transaction": [learning.NothingToLearn, learning.RuleTooBroad],
    }
    permission_for = {
        **dict.fromkeys(("list", "retrieve", "preview", "from_transaction"), READ),
        **dict.fromkeys(("create", "update", "destroy", "arrange", "apply"), WRITE),
    }

    @extend_schema(responses=ListSerializer(child=shapes.RuleShape(), max_length=ruling.MOST_RULES))
    def list(self, request: Request, company_id: str) -> Response:
        """All rules, in the order in which they are tried: the first that matches wins."""
        self.only_parameters()
        rows = CategorizationRule.objects.of(self.company.id).with_accounts(self.company.id).in_order()
        return Response(shapes.RuleShape(rows, many=True).data)

    @extend_schema(request=shapes.RuleShape, responses={201: shapes.RuleShape})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a rule, the last in order unless it says otherwise. It speaks about what arrives from now on; `apply`
        has it speak about what is there."""
        rule = ruling.add(company=self.company, stamp=self.stamp, values=self.parsed(shapes.RuleShape))
        location = f"/companies/{self.company.id}/categorization_rules/{rule.id}"
        return self.one(rule, shapes.RuleShape, status=201, location=location)

    @extend_schema(responses=shapes.RuleShape)
    def retrieve(self, request: Request, company_id: str, rule_id: str) -> Response:
        """One rule. Where its category or one of its accounts went away, or its category's line, it is disabled, and
        `disabledReason` says why."""
        rows = CategorizationRule.objects.with_accounts(self.company.id)
        return self.one(self.found(rows, rule_id), shapes.RuleShape)

    @extend_schema(request=shapes.RuleShape(partial=True), responses=shapes.RuleShape)
    def update(self, request: Request, company_id: str, rule_id: str) -> Response:
        """Changes the fields that are sent, `conditions` and `action` as a whole. What the rule assigned stays."""
        rule = ruling.change(company=self.company, stamp=self.stamp, rule_id=rule_id, values=partial(self.whole))
        return self.one(rule, shapes.RuleShape)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, rule_id: str) -> Response:
        """Deletes a rule; what it assigned stays."""
        ruling.delete(company=self.company, stamp=self.stamp, rule_id=rule_id)
        return Response(SUCCESS)

    @extend_schema(operation_id="orderCategorizationRules", request=shapes.OrderRequest, responses=Success)
    def arrange(self, request: Request, company_id: str) -> Response:
        """Puts the rules into an order; `ids` names all of them, each once."""
        ids = self.parsed(shapes.OrderRequest)["ids"]
        ruling.arrange(company=self.company, stamp=self.stamp, ids=ids)
        return Response(SUCCESS)

    @extend_schema(operation_id="previewCategorizationRules", request=shapes.PreviewRequest, responses=shapes.Preview)
    def preview(self, request: Request, company_id: str) -> Response:
        """What all enabled rules, or one that is not stored, match in a selection, and what `apply` would change there:
        transactions that are open and without any categorization, and those that rules assigned. Stores nothing."""
        values = self.parsed(shapes.PreviewRequest)
        tried = values.get("rule")
        rules = rulebook(self.company)
        if tried is not None:
            rules = ready(
                [ruling.tried(company=self.company, stamp=self.stamp, values=tried, at="#/rule")], stored=False
            )
        found = applying.preview(company=self.company, rules=rules, selection=values.get("selection"))
        return Response(shapes.Preview(found).data)

    @extend_schema(operation_id="applyCategorizationRules", request=shapes.ApplyRequest, responses=shapes.Applied)
    def apply(self, request: Request, company_id: str) -> Response:
        """Assigns what the enabled rules say of a selection: to transactions that are open and without any
        categorization, and to those that rules assigned before. What somebody categorized is never changed. The run can
        be taken back."""
        selection = self.parsed(shapes.ApplyRequest)["selection"]
        done = applying.apply(company=self.company, stamp=self.stamp, selection=selection)
        return Response({"success": True} | shapes.Applied(done).data)

    @extend_schema(operation_id="offerCategorizationRule", request=shapes.FromTransaction, responses=shapes.OfferedRule)
    def from_transaction(self, request: Request, company_id: str) -> Response:
        """A rule to look at that would have done what was done with this transaction, and its preview; it is not
        stored. Refused where it would match what was categorized otherwise (409 `rule_too_broad`, and
        `counterExamples` with some of them)."""
        asked = self.parsed(shapes.FromTransaction)
        offered = learning.from_transaction(company=self.company, transaction_id=asked["transaction_id"])
        body = {"rule": shapes.offered(offered.rule), "preview": shapes.Preview(offered.preview).data}
        return Response(body)

    def whole(self, rule: CategorizationRule) -> dict[str, Any]:
        """What a change asks for: the rule as it reads, with the fields that were sent."""
        body = self.request.data
        data = {**shapes.RuleShape(rule).data, **body} if isinstance(body, Mapping) else body
        return self.parsed(shapes.RuleShape, data=data)


class ProposalViewSet(CompanyViewSet):
    schema_tags = ["Categorization rules"]
    schema_noun = "proposal"
    permission_for = dict.fromkeys(("proposals", "transfers"), READ)

    @extend_schema(
        operation_id="proposeCategories",
        request=shapes.ProposalsRequest,
        responses={200: shapes.ProposalMap},
    )
    def proposals(self, request: Request, company_id: str) -> Response:
        """Suggests categories for up to 1,000 transactions, by transaction id: at most three each, the best first, none
        where nothing is known. They are counted from the company's own history; what history itself has assigned does
        not count. Where transactions of a counterparty have several categories, those with the same account, a similar
        amount or a similar text decide. A transaction whose other party is the company itself (its name, an account
        holder, the number of another account) is suggested as a transfer only: the system category Transfers, with
        `basis.kind` `own`."""
        ids = self.parsed(shapes.ProposalsRequest)["transaction_ids"]
        found = proposed(self.company, ids)
        unknown = [place for place, each in enumerate(ids) if each not in found]
        if unknown:
            raise FieldErrors([unknown_at(f"#/transactionIds/{place}") for place in unknown])
        return Response({str(each): [shapes.shown(proposal) for proposal in found[each]] for each in ids})

    @extend_schema(
        operation_id="proposeTransfers",
        request=shapes.TransferWindow,
        responses=ListSerializer(child=shapes.TransferPair(), max_length=MOST_PAIRS),
    )
    def transfers(self, request: Request, company_id: str) -> Response:
        """Pairs of open transactions of two accounts that look like a transfer, at most 5 days apart: equal amounts in
        one currency, or across currencies at most 3 % off the day's rate and a sign on either leg that it is the
        company's own (its name, an account's number or name, a word such as "transfer"), unless the other leg names a
        third party; up to 5 % with a sign on both. Two different third parties are never a pair. Each transaction is in
        one pair at most, the nearest first. link_transfer confirms one; what somebody refused in the inbox is not
        proposed again."""
        window = self.parsed(shapes.TransferWindow)
        found = transfer_pairs(company=self.company, start=window["start_date"], end=window["end_date"])
        return Response(
            [
                {
                    "sourceTransactionId": str(pair.source.id),
                    "targetTransactionId": str(pair.target.id),
                    "days": pair.days,
                    "difference": format_amount(pair.difference, pair.target.currency),
                }
                for pair in found
            ]
        )


class RunViewSet(CompanyViewSet):
    schema_tags = ["Categorization rules"]
    schema_noun = "categorizationRun"
    resource = CategorizationRun
    permission_for = {"destroy": WRITE}

    @extend_schema(responses={200: shapes.TakenBack})
    def destroy(self, request: Request, company_id: str, run_id: str) -> Response:
        """Takes back what a run of rules assigned, where nobody has touched it since."""
        done = applying.take_back(company=self.company, stamp=self.stamp, run_id=run_id)
        return Response({"success": True} | shapes.TakenBack(done).data)
