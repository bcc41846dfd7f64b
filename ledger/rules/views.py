"""REST: categorization rules, runs, and proposals from history."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.company_viewset import CompanyViewSet
from companies.api.serializers import SUCCESS, Success
from companies.errors import ValidationFailed, build_unknown_id_entry
from companies.permissions import Permission
from ledger.categorization.actions.bulk_categorization import PlTypeNeeded, PlTypeNotAllowed
from ledger.models import CategorizationRule, CategorizationRun
from ledger.money.calc.money import format_amount
from ledger.recognition.service_periods import PERIOD_ERRORS
from ledger.rules import serializers
from ledger.rules.actions import categorization_rules, categorization_runs, run_undo
from ledger.rules.queries import rule_matches, suggestions
from ledger.rules.queries.compiled_rules import build_compiled_rules, load_compiled_rules
from ledger.rules.queries.history_proposals import propose_categories
from ledger.rules.queries.transfer_proposals import MAX_PAIRS, list_transfer_proposals
from ledger.transactions.queries.selections import ConfirmationRequired

READ, WRITE = Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE
RULE_ERRORS = (PlTypeNeeded, PlTypeNotAllowed, *PERIOD_ERRORS)


class RuleViewSet(CompanyViewSet):
    schema_tags = ["Categorization rules"]
    schema_noun = "categorizationRule"
    resource = CategorizationRule
    refuses = {
        "create": [categorization_rules.TooManyRules, *RULE_ERRORS],
        "update": RULE_ERRORS,
        "preview": RULE_ERRORS,
        "apply": [ConfirmationRequired],
        "from_transaction": [suggestions.NothingToLearn, suggestions.RuleTooBroad],
    }
    permission_for = {
        **dict.fromkeys(("list", "retrieve", "preview", "from_transaction"), READ),
        **dict.fromkeys(("create", "update", "destroy", "arrange", "apply"), WRITE),
    }

    @extend_schema(
        responses=ListSerializer(child=serializers.RuleSerializer(), max_length=categorization_rules.MAX_RULES)
    )
    def list(self, request: Request, company_id: str) -> Response:
        """All rules, in the order in which they are tried: the first that matches wins."""
        self.allow_parameters()
        rows = (
            CategorizationRule.objects.for_company(self.company.id).with_account_ids(self.company.id).in_display_order()
        )
        return Response(serializers.RuleSerializer(rows, many=True).data)

    @extend_schema(request=serializers.RuleSerializer, responses={201: serializers.RuleSerializer})
    def create(self, request: Request, company_id: str) -> Response:
        """Adds a rule, the last in order unless it says otherwise. It speaks about what arrives from now on; `apply`
        has it speak about what is there."""
        rule = categorization_rules.create_categorization_rule(
            company=self.company, context=self.audit_context, values=self.parse_body(serializers.RuleSerializer)
        )
        location = f"/companies/{self.company.id}/categorization_rules/{rule.id}"
        return self.respond_with_one(rule, serializers.RuleSerializer, status=201, location=location)

    @extend_schema(responses=serializers.RuleSerializer)
    def retrieve(self, request: Request, company_id: str, rule_id: str) -> Response:
        """One rule. Where its category or one of its accounts went away, or its category's line, it is disabled, and
        `disabledReason` says why."""
        rows = CategorizationRule.objects.with_account_ids(self.company.id)
        return self.respond_with_one(self.get_row(rows, rule_id), serializers.RuleSerializer)

    @extend_schema(request=serializers.RuleSerializer(partial=True), responses=serializers.RuleSerializer)
    def update(self, request: Request, company_id: str, rule_id: str) -> Response:
        """Changes the fields that are sent, `conditions` and `action` as a whole. What the rule assigned stays."""
        rule = categorization_rules.update_categorization_rule(
            company=self.company, context=self.audit_context, rule_id=rule_id, values=partial(self.build_full_body)
        )
        return self.respond_with_one(rule, serializers.RuleSerializer)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, rule_id: str) -> Response:
        """Deletes a rule; what it assigned stays."""
        categorization_rules.delete_categorization_rule(
            company=self.company, context=self.audit_context, rule_id=rule_id
        )
        return Response(SUCCESS)

    @extend_schema(operation_id="orderCategorizationRules", request=serializers.OrderRequest, responses=Success)
    def arrange(self, request: Request, company_id: str) -> Response:
        """Puts the rules into an order; `ids` names all of them, each once."""
        ids = self.parse_body(serializers.OrderRequest)["ids"]
        categorization_rules.reorder_categorization_rules(
            company=self.company, context=self.audit_context, rule_ids=ids
        )
        return Response(SUCCESS)

    @extend_schema(
        operation_id="previewCategorizationRules", request=serializers.PreviewRequest, responses=serializers.Preview
    )
    def preview(self, request: Request, company_id: str) -> Response:
        """What all enabled rules, or one that is not stored, match in a selection, and what `apply` would change there:
        transactions that are open and without any categorization, and those that rules assigned. Stores nothing."""
        values = self.parse_body(serializers.PreviewRequest)
        rule_values = values.get("rule")
        compiled_rules = load_compiled_rules(self.company)
        if rule_values is not None:
            compiled_rules = build_compiled_rules(
                [
                    categorization_rules.build_unsaved_rule(
                        company=self.company, context=self.audit_context, values=rule_values, pointer="#/rule"
                    )
                ],
                is_stored=False,
            )
        result = rule_matches.preview_rules(
            company=self.company, rules=compiled_rules, selection=values.get("selection")
        )
        return Response(serializers.Preview(result).data)

    @extend_schema(
        operation_id="applyCategorizationRules", request=serializers.ApplyRequest, responses=serializers.Applied
    )
    def apply(self, request: Request, company_id: str) -> Response:
        """Assigns what the enabled rules say of a selection: to transactions that are open and without any
        categorization, and to those that rules assigned before. What somebody categorized is never changed. The run can
        be taken back."""
        selection = self.parse_body(serializers.ApplyRequest)["selection"]
        result = categorization_runs.apply_rules(company=self.company, context=self.audit_context, selection=selection)
        return Response({"success": True} | serializers.Applied(result).data)

    @extend_schema(
        operation_id="offerCategorizationRule", request=serializers.FromTransaction, responses=serializers.OfferedRule
    )
    def from_transaction(self, request: Request, company_id: str) -> Response:
        """A rule to look at that would have done what was done with this transaction, and its preview; it is not
        stored. Refused where it would match what was categorized otherwise (409 `rule_too_broad`, and
        `counterExamples` with some of them)."""
        parameters = self.parse_body(serializers.FromTransaction)
        suggestion = suggestions.suggest_rule(company=self.company, transaction_id=parameters["transaction_id"])
        body = {
            "rule": serializers.serialize_suggested_rule(suggestion.rule),
            "preview": serializers.Preview(suggestion.preview).data,
        }
        return Response(body)

    def build_full_body(self, rule: CategorizationRule) -> dict[str, Any]:
        """Return the complete body of an update: the stored rule with the fields that were sent."""
        body = self.request.data
        data = {**serializers.RuleSerializer(rule).data, **body} if isinstance(body, Mapping) else body
        return self.parse_body(serializers.RuleSerializer, data=data)


class ProposalViewSet(CompanyViewSet):
    schema_tags = ["Categorization rules"]
    schema_noun = "proposal"
    permission_for = dict.fromkeys(("proposals", "transfers"), READ)

    @extend_schema(
        operation_id="proposeCategories",
        request=serializers.ProposalsRequest,
        responses={200: serializers.ProposalMap},
    )
    def proposals(self, request: Request, company_id: str) -> Response:
        """Suggests categories for up to 1,000 transactions, by transaction id: at most three each, the best first, none
        where nothing is known. They are counted from the company's own history; what history itself has assigned does
        not count. Where transactions of a counterparty have several categories, those with the same account, a similar
        amount or a similar text decide. A transaction whose other party is the company itself (its name, an account
        holder, the number of another account) is suggested as a transfer only: the system category Transfers, with
        `basis.kind` `own`."""
        transaction_ids = self.parse_body(serializers.ProposalsRequest)["transaction_ids"]
        proposals_by_id = propose_categories(self.company, transaction_ids)
        unknown_positions = [
            place for place, transaction_id in enumerate(transaction_ids) if transaction_id not in proposals_by_id
        ]
        if unknown_positions:
            raise ValidationFailed([build_unknown_id_entry(f"#/transactionIds/{place}") for place in unknown_positions])
        return Response(
            {
                str(transaction_id): [
                    serializers.serialize_proposal(proposal) for proposal in proposals_by_id[transaction_id]
                ]
                for transaction_id in transaction_ids
            }
        )

    @extend_schema(
        operation_id="proposeTransfers",
        request=serializers.TransferWindow,
        responses=ListSerializer(child=serializers.TransferPair(), max_length=MAX_PAIRS),
    )
    def transfers(self, request: Request, company_id: str) -> Response:
        """Pairs of open transactions of two accounts that look like a transfer, at most 5 days apart: equal amounts in
        one currency, or across currencies at most 3 % off the day's rate and a sign on either leg that it is the
        company's own (its name, an account's number or name, a word such as "transfer"), unless the other leg names a
        third party; up to 5 % with a sign on both. Two different third parties are never a pair. Each transaction is in
        one pair at most, the nearest first. link_transfer confirms one; what somebody refused in the inbox is not
        proposed again."""
        window = self.parse_body(serializers.TransferWindow)
        pairs = list_transfer_proposals(company=self.company, start=window["start_date"], end=window["end_date"])
        return Response(
            [
                {
                    "sourceTransactionId": str(pair.source.id),
                    "targetTransactionId": str(pair.target.id),
                    "days": pair.days,
                    "difference": format_amount(pair.difference, pair.target.currency),
                }
                for pair in pairs
            ]
        )


class RunViewSet(CompanyViewSet):
    schema_tags = ["Categorization rules"]
    schema_noun = "categorizationRun"
    resource = CategorizationRun
    permission_for = {"destroy": WRITE}

    @extend_schema(responses={200: serializers.TakenBack})
    def destroy(self, request: Request, company_id: str, run_id: str) -> Response:
        """Takes back what a run of rules assigned, where nobody has touched it since."""
        result = run_undo.undo_categorization_run(company=self.company, context=self.audit_context, run_id=run_id)
        return Response({"success": True} | serializers.TakenBack(result).data)
