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
from ledger.categorization.queries.references import PlTypeNeeded, PlTypeNotAllowed
from ledger.models import CategorizationRule, CategorizationRun
from ledger.money.calc.money import format_amount
from ledger.recognition.service_periods import PERIOD_ERRORS
from ledger.rules import serializers
from ledger.rules.actions import categorization_rules, categorization_runs, run_undo
from ledger.rules.queries import rule_matches, suggestions
from ledger.rules.queries.category_suggestions import suggest_categories
from ledger.rules.queries.compiled_rules import build_compiled_rules, load_compiled_rules
from ledger.rules.queries.counterparty_rules import MAX_COUNTERPARTIES, list_counterparty_rules
from ledger.rules.queries.history_proposals import propose_categories
from ledger.rules.queries.transfer_proposals import MAX_PAIRS, list_transfer_proposals
from ledger.transactions.queries.selections import ConfirmationRequired

READ, WRITE = Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE
RULE_ERRORS = (PlTypeNeeded, PlTypeNotAllowed, *PERIOD_ERRORS)


class RuleViewSet(CompanyViewSet):
    schema_tags = ["Categorization rules"]
    schema_noun = "categorizationRule"
    resource = CategorizationRule
    errors_for = {
        "create": [categorization_rules.TooManyRules, *RULE_ERRORS],
        "update": RULE_ERRORS,
        "preview": RULE_ERRORS,
        "apply": [ConfirmationRequired],
        "from_transaction": [suggestions.NothingToLearn, suggestions.RuleTooBroad],
    }
    permission_for = {
        **dict.fromkeys(("list", "retrieve", "preview", "from_transaction", "suggestions"), READ),
        **dict.fromkeys(("create", "update", "destroy", "arrange", "apply"), WRITE),
    }

    @extend_schema(
        responses=ListSerializer(child=serializers.RuleSerializer(), max_length=categorization_rules.MAX_RULES)
    )
    def list(self, request: Request, company_id: str) -> Response:
        """List all rules in the order they are tried. The first match wins."""
        self.allow_parameters()
        rows = CategorizationRule.objects.for_company(self.company.id).with_details(self.company.id).in_display_order()
        return Response(serializers.RuleSerializer(rows, many=True).data)

    @extend_schema(request=serializers.RuleSerializer, responses={201: serializers.RuleSerializer})
    def create(self, request: Request, company_id: str) -> Response:
        """Create a rule, last in order unless `order` is set. It categorizes new transactions; use `apply` for existing
        ones."""
        values = self.parse_body(serializers.RuleSerializer)
        self.check_counterparty_permission(values)
        rule = categorization_rules.create_categorization_rule(
            company=self.company, context=self.audit_context, values=values
        )
        location = f"/companies/{self.company.id}/categorization_rules/{rule.id}"
        return self.respond_with_one(rule, serializers.RuleSerializer, status=201, location=location)

    @extend_schema(responses=serializers.RuleSerializer)
    def retrieve(self, request: Request, company_id: str, rule_id: str) -> Response:
        """Get a rule. A rule is disabled if its category, P&L line or account was deleted; see `disabledReason`."""
        rows = CategorizationRule.objects.with_details(self.company.id)
        return self.respond_with_one(self.get_row(rows, rule_id), serializers.RuleSerializer)

    @extend_schema(request=serializers.RuleSerializer(partial=True), responses=serializers.RuleSerializer)
    def update(self, request: Request, company_id: str, rule_id: str) -> Response:
        """Update the fields you send; `conditions` and `action` as a whole. Existing categorizations stay."""
        rule = categorization_rules.update_categorization_rule(
            company=self.company, context=self.audit_context, rule_id=rule_id, values=partial(self.build_full_body)
        )
        return self.respond_with_one(rule, serializers.RuleSerializer)

    @extend_schema(responses={200: Success})
    def destroy(self, request: Request, company_id: str, rule_id: str) -> Response:
        """Delete a rule. Its categorizations stay."""
        categorization_rules.delete_categorization_rule(
            company=self.company, context=self.audit_context, rule_id=rule_id
        )
        return Response(SUCCESS)

    @extend_schema(operation_id="orderCategorizationRules", request=serializers.OrderRequest, responses=Success)
    def arrange(self, request: Request, company_id: str) -> Response:
        """Set the order of all rules. `ids` must list every rule once."""
        ids = self.parse_body(serializers.OrderRequest)["ids"]
        categorization_rules.reorder_categorization_rules(
            company=self.company, context=self.audit_context, rule_ids=ids
        )
        return Response(SUCCESS)

    @extend_schema(
        operation_id="previewCategorizationRules",
        request=serializers.PreviewRequest,
        responses=serializers.RulePreviewSerializer,
    )
    def preview(self, request: Request, company_id: str) -> Response:
        """Preview what all enabled rules, or the rule you send, match in a selection and what `apply` would change.

        Rules change transactions without categorizations and those that rules categorized. Nothing is stored.
        """
        values = self.parse_body(serializers.PreviewRequest)
        rule_values = values.get("rule")
        compiled_rules = load_compiled_rules(self.company)
        if rule_values is not None:
            compiled_rules = build_compiled_rules(
                self.company,
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
        return Response(serializers.RulePreviewSerializer(result).data)

    @extend_schema(
        operation_id="applyCategorizationRules",
        request=serializers.ApplyRequest,
        responses=serializers.AppliedRunSerializer,
    )
    def apply(self, request: Request, company_id: str) -> Response:
        """Apply all enabled rules to a selection.

        Only transactions without categorizations, and those that rules categorized, are changed. Categorizations made
        by people stay. You can undo the run.
        """
        selection = self.parse_body(serializers.ApplyRequest)["selection"]
        result = categorization_runs.apply_rules(company=self.company, context=self.audit_context, selection=selection)
        return Response({"success": True} | serializers.AppliedRunSerializer(result).data)

    @extend_schema(
        operation_id="offerCategorizationRule",
        request=serializers.FromTransactionRequest,
        responses=serializers.SuggestedRuleSerializer,
    )
    def from_transaction(self, request: Request, company_id: str) -> Response:
        """Suggest a rule from a categorized transaction, with its preview. The rule is not stored.

        Returns 409 `rule_too_broad` with `counterExamples` if the rule would match transactions with other categories.
        """
        parameters = self.parse_body(serializers.FromTransactionRequest)
        suggestion = suggestions.suggest_rule(company=self.company, transaction_id=parameters["transaction_id"])
        body = {
            "rule": serializers.serialize_suggested_rule(suggestion.rule),
            "preview": serializers.RulePreviewSerializer(suggestion.preview).data,
        }
        return Response(body)

    @extend_schema(
        operation_id="listSuggestedCategorizationRules",
        responses=ListSerializer(child=serializers.CounterpartyRuleSerializer(), max_length=MAX_COUNTERPARTIES),
    )
    def suggestions(self, request: Request, company_id: str) -> Response:
        """Suggest rules for counterparties whose payments all have one category, line, tax rate and counterparty.

        The most frequent first, at most 500. Counterparties that a rule matches are left out. Payments without
        `fromTo`, such as those by card, count by how their descriptions begin. Create the rules that you want with
        `POST`.
        """
        self.allow_parameters()
        return Response(serializers.CounterpartyRuleSerializer(list_counterparty_rules(self.company), many=True).data)

    def build_full_body(self, rule: CategorizationRule) -> dict[str, Any]:
        """Return the complete body of an update: the stored rule with the fields that were sent."""
        body = self.request.data
        data = {**serializers.RuleSerializer(rule).data, **body} if isinstance(body, Mapping) else body
        values = self.parse_body(serializers.RuleSerializer, data=data)
        if rule.counterparty_from is None:
            self.check_counterparty_permission(values)
        return values

    def check_counterparty_permission(self, values: dict[str, Any]) -> None:
        """Raise PermissionMissing if a rule shall create counterparties and the caller must not."""
        if values["action"].get("counterparty_from"):
            self.require_permission(Permission.COUNTERPARTIES_WRITE)


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
        """Suggest up to three categories for each of up to 1,000 transactions, best first.

        Suggestions come from the company's categorization history, without automatic categorizations by history. If a
        counterparty has several categories, transactions with the same account, a similar amount or a similar text
        decide. If the counterparty is the company itself, only the system category Transfers is suggested, with
        `basis.kind` `own`. That is, its text names the company, an account holder or another of its accounts, or it
        is part of a suggested transfer that names no third party. Transactions of closed months get none.

        With `paymentKinds`, the words of a transaction may suggest a category too, with `basis.kind` `paymentKind`:
        salaries, social security, taxes, rent, insurance, known vendors, bank fees, loans and customer payments. Taxes,
        bank fees, interest and loans come before what the name alone suggests.
        """
        body = self.parse_body(serializers.ProposalsRequest)
        transaction_ids = body["transaction_ids"]
        suggest = suggest_categories if body["payment_kinds"] else propose_categories
        proposals_by_id = suggest(self.company, transaction_ids)
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
        """Suggest pairs of uncategorized transactions on two accounts that look like a transfer, closest first.

        The legs are at most 5 days apart. In one currency the amounts are equal. Across currencies they differ from the
        day's rate by at most 3% if one leg shows that it is internal, or 5% if both do. A leg shows it by the company's
        name, the number or name of an account, a word such as "transfer", or a text that only says that a card is
        settled, such as "card settlement". Legs that name different third parties are never paired. Each transaction
        is in at most one pair. Use `link_transfer` to confirm a pair; rejected pairs are not suggested again.
        """
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

    @extend_schema(responses={200: serializers.RunUndoResultSerializer})
    def destroy(self, request: Request, company_id: str, run_id: str) -> Response:
        """Undo a run of rules. Transactions edited since the run stay unchanged."""
        result = run_undo.undo_categorization_run(company=self.company, context=self.audit_context, run_id=run_id)
        return Response({"success": True} | serializers.RunUndoResultSerializer(result).data)
