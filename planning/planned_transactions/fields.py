"""The texts of planned transactions. Those with headings are also columns of imported and exported invoices."""

from ledger.calc.text_fields import TextField
from ledger.calc.text_fields import mark_for_translation as _

PLANNED_TEXTS = (
    TextField(
        column="external_id",
        name="externalId",
        label=_("External ID"),
        help_text="Your own id; null if it has none.",
        max_length=200,
    ),
    TextField(
        column="external_subscription_id",
        name="externalSubscriptionId",
        label=_("Subscription ID"),
        help_text="Id of the subscription at its provider; null without one.",
        example="sub_1042",
        max_length=200,
    ),
    TextField(
        column="external_invoice_id",
        name="externalInvoiceId",
        label=_("Invoice ID"),
        help_text="Id of the invoice at its provider; null without one.",
        example="in_1042",
        max_length=200,
    ),
)
INVOICE_TEXTS = tuple(text for text in PLANNED_TEXTS if text.headings)
