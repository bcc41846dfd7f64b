"""Serializers of rules, previews, runs, proposals and dismissed matches."""

from decimal import Decimal
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from companies.api import fields
from companies.api.serializers import AUDIT_FIELDS, MapSerializer, StrictModelSerializer, StrictSerializer
from companies.names import BLANK_NAME_CODE
from ledger.calc.recognition import DateRule, PeriodStart
from ledger.categorization.serializers.categorizations import to_recognition_rule
from ledger.models import MAX_SERVICE_MONTHS, CategorizationRule, CounterpartyFrom, Direction, Operator, PlType
from ledger.money.amounts import parse_amount_bound
from ledger.money.calc.money import InvalidAmount
from ledger.money.fields import AMOUNT, AmountField, CurrencyField
from ledger.rules.actions.categorization_rules import MAX_RULES
from ledger.rules.calc.category_proposals import BASIS_KINDS, MAX_PROPOSALS, CategoryProposal
from ledger.rules.calc.rule_matcher import fold_text
from ledger.transactions.serializers import CounterpartyRef, DateRuleSerializer, SelectionSerializer

MAX_VALUE_LENGTH = 200
MAX_ACCOUNTS = 200
MAX_SAMPLE = 100
MAX_PROPOSAL_TRANSACTIONS = 1000
MAX_SPLITS = 20


class TextConditionSerializer(StrictSerializer):
    """A text comparison. Case, accents and repeated spaces are ignored."""

    schema_name = "Condition"
    operator = fields.ChoiceField(choices=Operator.choices)
    value = fields.TextField(max_length=MAX_VALUE_LENGTH)

    def validate_value(self, value: str) -> str:
        if not fold_text(value):
            raise serializers.ValidationError(_("Must contain a letter, digit or symbol."), code=BLANK_NAME_CODE)
        return value


@extend_schema_field({**AMOUNT, "type": ["string", "number"], "minimum": 0})
class AmountBoundField(serializers.Field):
    """A non-negative amount as a string; a number is accepted too."""

    default_error_messages = {
        "invalid_decimal": gettext_lazy('Must be a decimal string such as "1234.56".'),
        "out_of_range": gettext_lazy("Must not be negative."),
    }

    def to_internal_value(self, data: Any) -> Decimal:
        is_number = isinstance(data, int | float | Decimal) and not isinstance(data, bool)
        text = format(Decimal(str(data)), "f") if is_number else data
        if not isinstance(text, str):
            self.fail("invalid_decimal")
        try:
            value = parse_amount_bound(text)
        except InvalidAmount:
            self.fail("invalid_decimal")
        if value < 0:
            self.fail("out_of_range")
        return value

    def to_representation(self, value: Decimal) -> str:
        """With two decimals at least, as most currencies have."""
        normalized = value.normalize()
        return format(normalized if normalized.as_tuple().exponent < -2 else normalized.quantize(Decimal("0.01")), "f")  # type: ignore[operator]


class RuleAccountIdsField(fields.ListField):
    child = fields.IdField()

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_ACCOUNTS, **kwargs)


class RuleConditionsSerializer(StrictSerializer):
    """Conditions of a rule. At least one is required and all must match. `text` matches `fromTo` or `description`."""

    schema_name = "Conditions"
    from_to = TextConditionSerializer(required=False, allow_null=True)
    description = TextConditionSerializer(required=False, allow_null=True)
    text = TextConditionSerializer(required=False, allow_null=True)
    account_ids = RuleAccountIdsField(required=False, allow_null=True)
    direction = fields.ChoiceField(choices=Direction.choices, required=False, allow_null=True)
    min_amount = AmountBoundField(
        required=False, allow_null=True, help_text="Smallest absolute amount, in the transaction's currency."
    )
    max_amount = AmountBoundField(
        required=False, allow_null=True, help_text="Largest absolute amount, in the transaction's currency."
    )
    currency = CurrencyField(required=False, allow_null=True)
    counterparty_id = fields.IdField(
        required=False, allow_null=True, help_text="Counterparty; also matches if fromTo is its name."
    )


class RuleServicePeriod(StrictSerializer):
    """A service period of whole months, counted from each transaction."""

    months = fields.IntegerField(min_value=1, max_value=MAX_SERVICE_MONTHS, help_text="Number of months.")
    start = fields.ChoiceField(
        choices=[(start.value, start.value) for start in PeriodStart],
        help_text="First day: `payment` is the transaction's date, `nextMonth` the first day of the month after it.",
    )


class RuleSplitSerializer(StrictSerializer):
    """A share of the amount for another category. Send either `percent` or `amountValue`."""

    category_id = fields.IdField(allow_null=True, help_text="Category; null if deleted, which disables the rule.")
    pl_type = fields.ChoiceField(
        choices=PlType.choices, required=False, allow_null=True, help_text="Required if the category has several."
    )
    percent = fields.NumberField(
        minimum=Decimal(0),
        maximum=Decimal(100),
        required=False,
        allow_null=True,
        help_text="Share of the whole amount in percent, more than 0; null for a fixed amount.",
    )
    amount_value = AmountBoundField(
        required=False,
        allow_null=True,
        help_text="Fixed amount without sign, in the transaction's currency; null for a percentage.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        percent, amount = attrs.get("percent"), attrs.get("amount_value")
        if percent is None and amount is None:
            raise serializers.ValidationError({"percent": _("Enter a percentage or an amount.")}, code="required")
        if percent is not None and amount is not None:
            raise serializers.ValidationError(
                {"amountValue": _("Enter either a percentage or an amount.")}, code="contradicting_fields"
            )
        return attrs


class RuleSplitsField(fields.ListField):
    child = RuleSplitSerializer()

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_SPLITS, **kwargs)


class RuleActionSerializer(StrictSerializer):
    """The categorization that the rule assigns to the amount, or to what `splits` leave of it."""

    schema_name = "Action"
    category_id = fields.IdField(allow_null=True, help_text="Category; null if deleted, which disables the rule.")
    pl_type = fields.ChoiceField(
        choices=PlType.choices, required=False, allow_null=True, help_text="Required if the category has several."
    )
    counterparty = CounterpartyRef(required=False, allow_null=True)
    counterparty_from = fields.ChoiceField(
        choices=CounterpartyFrom.choices,
        required=False,
        allow_null=True,
        help_text="`fromTo` assigns the counterparty named in the transaction's fromTo, and creates it if it is new "
        "(needs `counterparties:write`); null for none.",
    )
    using_date_rule = DateRuleSerializer(required=False, allow_null=True)
    service_period = RuleServicePeriod(
        required=False,
        allow_null=True,
        help_text="Service period in which the amount is recognized, instead of usingDateRule; null for none.",
    )
    pass_through_tax_percent = fields.NumberField(
        minimum=Decimal(0),
        maximum=Decimal(100),
        required=False,
        allow_null=True,
        help_text="Pass-through tax rate in percent, such as 19.",
    )
    splits = RuleSplitsField(
        required=False,
        allow_null=True,
        help_text="Shares of the amount for other categories, at most 100 percent in total; categoryId gets the "
        "remainder.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """In the words of the acts."""
        counterparty = attrs.get("counterparty")
        if counterparty and attrs.get("counterparty_from"):
            raise serializers.ValidationError(
                {"counterpartyFrom": _("Choose a counterparty, or take it from the transaction.")},
                code="contradicting_fields",
            )
        date_rule = attrs.get("using_date_rule")
        if attrs.get("service_period") and date_rule and date_rule["type"] != DateRule.TRANSACTION_DATE:
            raise serializers.ValidationError(
                {"servicePeriod": _("Choose a period, or a number of months.")}, code="contradicting_fields"
            )
        return attrs | {
            "rule": to_recognition_rule(attrs.get("using_date_rule")),
            "counterparty": (counterparty["id"], counterparty.get("type")) if counterparty else None,
        }


class RuleSerializer(StrictModelSerializer):
    company_id = fields.IdField(read_only=True)
    name = fields.NameField(max_length=200)
    enabled = fields.BooleanField(required=False)
    order = fields.OrderField(required=False, help_text="Position among the rules; last by default.")
    conditions = RuleConditionsSerializer()
    action = RuleActionSerializer()
    matched_count = fields.CountField(read_only=True, help_text="Number of transactions the rule categorized.")

    class Meta:
        model = CategorizationRule
        fields: ClassVar[tuple[str, ...]] = (
            *("id", "company_id", "name", "enabled", "disabled_reason", "order", "conditions", "action"),
            *("matched_count", "last_matched_time", *AUDIT_FIELDS),
        )
        read_only_fields: ClassVar[tuple[str, ...]] = ("id", "disabled_reason", "last_matched_time", *AUDIT_FIELDS)


class TriedRuleRequest(RuleSerializer):
    """A rule to preview, not stored."""

    name = fields.NameField(max_length=200, required=False)


class RuleIdsField(fields.ListField):
    child = fields.IdField()

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_RULES, **kwargs)


class OrderRequest(StrictSerializer):
    ids = RuleIdsField(help_text="IDs of all rules, each once, in the new order.")


class PreviewRequest(StrictSerializer):
    rule = TriedRuleRequest(required=False, allow_null=True, help_text="Rule to preview; all rules if omitted.")
    selection = SelectionSerializer(required=False, allow_null=True, help_text="Defaults to all transactions.")


class TransactionCountByRule(StrictSerializer):
    schema_name = "RuleCount"
    rule_id = fields.IdField(allow_null=True)
    count = fields.CountField()


class SampleTransaction(StrictSerializer):
    schema_name = "Sampled"
    transaction_id = fields.IdField()
    rule_id = fields.IdField(allow_null=True)
    category_id = fields.IdField(help_text="Category of its first categorization.")


class RulePreviewSerializer(StrictSerializer):
    schema_name = "Preview"
    matched = fields.CountField(help_text="Number of transactions that a rule matches.")
    changed = fields.CountField(help_text="Number of them that `apply` would change.")
    by_rule = serializers.ListField(child=TransactionCountByRule(), max_length=MAX_RULES)
    sample = serializers.ListField(
        child=SampleTransaction(), max_length=MAX_SAMPLE, help_text="Examples that would change."
    )


class ApplyRequest(StrictSerializer):
    selection = SelectionSerializer()


class AppliedRunSerializer(StrictSerializer):
    schema_name = "Applied"
    success = fields.BooleanField(default=True)
    run_id = fields.IdField()
    affected = fields.CountField()
    by_rule = serializers.ListField(child=TransactionCountByRule(), max_length=MAX_RULES)


class RunUndoResultSerializer(StrictSerializer):
    schema_name = "TakenBack"
    success = fields.BooleanField(default=True)
    affected = fields.CountField()
    kept_count = fields.CountField(help_text="Number of transactions kept because they were edited since.")


class ProposalTransactionIdsField(fields.ListField):
    child = fields.IdField()

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=MAX_PROPOSAL_TRANSACTIONS, **kwargs)


class FromTransactionRequest(StrictSerializer):
    transaction_id = fields.IdField()


class NewRule(StrictSerializer):
    """A rule that you can send to create it."""

    name = fields.NameField(max_length=200)
    conditions = RuleConditionsSerializer()
    action = RuleActionSerializer()


class SuggestedRuleSerializer(StrictSerializer):
    schema_name = "OfferedRule"
    rule = NewRule()
    preview = RulePreviewSerializer()


class CounterpartyRuleSerializer(StrictSerializer):
    schema_name = "CounterpartyRule"
    rule = NewRule()
    payment_count = fields.CountField(help_text="Number of payments categorized so, of the latest 100.")
    month_count = fields.CountField(help_text="Number of months with such a payment.")
    open_count = fields.CountField(help_text="Number of uncategorized transactions that it would categorize now.")
    is_recommended = fields.BooleanField(help_text="Whether there are two payments, or one of a kind that recurs.")


def serialize_suggested_rule(rule: CategorizationRule) -> dict[str, Any]:
    """Return an unsaved rule for the OfferedRule answer."""
    return NewRule(rule).data


class ProposalsRequest(StrictSerializer):
    transaction_ids = ProposalTransactionIdsField()
    payment_kinds = fields.BooleanField(
        default=False, help_text="Also suggest by the kind of payment, where history suggests nothing from 0.5."
    )


class ProposalBasis(StrictSerializer):
    """The earlier transactions behind a suggestion: same counterparty, similar text or name, or same account. `own`
    means a transfer, as the counterparty is the company itself; `paymentKind` that only the texts suggest it."""

    schema_name = "Basis"
    kind = fields.ChoiceField(choices=[(kind, kind) for kind in BASIS_KINDS])
    seen = fields.CountField(help_text="Number of earlier transactions compared; 1 for `own`, 0 for `paymentKind`.")
    agreed = fields.CountField(help_text="Number of them with this category; 1 for `own`, 0 for `paymentKind`.")


class ProposalSerializer(StrictSerializer):
    category_id = fields.IdField()
    pl_type = fields.ChoiceField(choices=PlType.choices)
    counterparty = CounterpartyRef(allow_null=True)
    confidence = fields.NumberField(
        help_text="From 0 to 1, and at most 0.5 for the basis `account` and where only the opposite direction agrees."
    )
    basis = ProposalBasis()


class ProposalMap(MapSerializer):
    """Suggested categories by transaction ID, best first."""

    child = ProposalSerializer
    max_items = MAX_PROPOSALS


def serialize_proposal(proposal: CategoryProposal) -> dict[str, Any]:
    """Return a proposal for the ProposalSerializer answer."""
    categorization = proposal.categorization
    counterparty = (
        {"type": categorization.counterparty_type, "id": str(categorization.counterparty_id)}
        if categorization.counterparty_id
        else None
    )
    return {
        "categoryId": str(categorization.category_id),
        "plType": categorization.pl_type,
        "counterparty": counterparty,
        "confidence": float(proposal.confidence),
        "basis": {"kind": proposal.kind, "seen": proposal.seen, "agreed": proposal.agreed},
    }


class TransferWindow(StrictSerializer):
    start_date = fields.DateField()
    end_date = fields.DateField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["end_date"] < attrs["start_date"]:
            raise serializers.ValidationError({"endDate": "Must not be before startDate."}, code="end_before_start")
        return attrs


class DismissedMatchSerializer(StrictSerializer):
    """A rejected suggestion: a transfer with another transaction, or a match with an occurrence on `day`."""

    schema_name = "Refusal"
    id = fields.IdField(source="transaction_id")
    other_id = fields.IdField()
    day = fields.DateField(allow_null=True)


class TransferPair(StrictSerializer):
    source_transaction_id = fields.IdField(help_text="Transaction of the outgoing leg.")
    target_transaction_id = fields.IdField(help_text="Transaction of the incoming leg.")
    days = fields.CountField(help_text="Days between the two dates.")
    difference = AmountField(help_text="Target amount less the converted source amount, in the target's currency.")
