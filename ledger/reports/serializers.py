"""Serializers of commentaries and links."""

from companies.api import fields
from companies.api.serializers import StrictSerializer
from companies.models import MAX_ACTOR_LENGTH
from ledger.closings.serializers import MAX_VERSION
from ledger.models import MAX_COMMENTARY_LENGTH

MAX_URL_LENGTH = 2000


class ReportCommentarySerializer(StrictSerializer):
    """The commentary on a month's report."""

    month = fields.MonthField(read_only=True)
    text = fields.TextField(
        allow_blank=True, max_length=MAX_COMMENTARY_LENGTH, help_text="Plain text with line breaks."
    )
    last_updated_time = fields.TimeField(read_only=True)
    last_updated_user_id = fields.TextField(read_only=True, allow_null=True, max_length=MAX_ACTOR_LENGTH)


class ReportLinkRequest(StrictSerializer):
    expires_time = fields.TimeField(help_text="When the link stops working, at most 400 days from now.")


class NewReportLinkSerializer(StrictSerializer):
    """A new link with its URL, which is shown only once."""

    id = fields.IdField()
    url = fields.TextField(max_length=MAX_URL_LENGTH, help_text="Address of the page; it needs no sign-in.")


class ReportLinkSerializer(StrictSerializer):
    """A link to a report, without its URL."""

    id = fields.IdField()
    month = fields.MonthField()
    version = fields.IntegerField(
        source="closing.version",
        allow_null=True,
        default=None,
        min_value=1,
        max_value=MAX_VERSION,
        help_text="Version of the closing that the link shows; null for a link to the report.",
    )
    expires_time = fields.TimeField(help_text="When the link stops working.")
    created_time = fields.TimeField()
    created_user_id = fields.TextField(allow_null=True, max_length=MAX_ACTOR_LENGTH)
