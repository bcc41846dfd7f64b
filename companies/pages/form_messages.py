"""What forms say in place of the API's messages, which name types and fields of JSON."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

REQUIRED = gettext_lazy("This field is required.")
INVALID_CHOICE_CODE = "invalid_choice"
FORM_MESSAGES = [
    (gettext_lazy("Must be an integer."), gettext_lazy("Enter a whole number.")),
    (gettext_lazy("Must be a number."), gettext_lazy("Enter a number.")),
    (gettext_lazy("Must be a date (YYYY-MM-DD)."), gettext_lazy("Enter a date such as 2026-03-31.")),
    (gettext_lazy("Must be a month (YYYY-MM)."), gettext_lazy("Enter a month such as 2026-03.")),
    (
        gettext_lazy('Must be a decimal string such as "-1234.56".'),
        gettext_lazy("Enter an amount with at most 15 digits before the decimal point."),
    ),
    (
        gettext_lazy('Must be a decimal string such as "1234.56".'),
        gettext_lazy("Enter an amount with at most 15 digits before the decimal point."),
    ),
    (gettext_lazy("Must be a string."), REQUIRED),
    (gettext_lazy("Must be true or false."), gettext_lazy("Choose one of the options.")),
    (gettext_lazy("This field may not be null."), REQUIRED),
    (gettext_lazy("This field may not be blank."), REQUIRED),
    (gettext_lazy("Must not be before startDate."), gettext_lazy("Must not be before the start date.")),
    (gettext_lazy("Must not be before serviceStartDate."), gettext_lazy("Must not be before the start date.")),
    (gettext_lazy("Must not be before from."), gettext_lazy("Must not be before the first day.")),
    (gettext_lazy("Must not be less than minAmount."), gettext_lazy("Must not be less than the minimum.")),
    (
        gettext_lazy("Must have a P&L line unless the whole amount is passThroughTax."),
        gettext_lazy("Enter an amount for a P&L line, unless the whole amount is pass-through tax."),
    ),
]
# Messages of Django REST framework that our catalogs translate, since its own German is informal or literal.
FRAMEWORK_MESSAGES = (
    gettext_noop("Date has wrong format. Use one of these formats instead: {format}."),
    gettext_noop("Datetime has wrong format. Use one of these formats instead: {format}."),
    gettext_noop("Duration has wrong format. Use one of these formats instead: {format}."),
    gettext_noop("Time has wrong format. Use one of these formats instead: {format}."),
    gettext_noop("Ensure that there are no more than {max_decimal_places} decimal places."),
    gettext_noop("Ensure that there are no more than {max_digits} digits in total."),
    gettext_noop("Ensure that there are no more than {max_whole_digits} digits before the decimal point."),
    gettext_noop("Ensure this field has at least {min_length} characters."),
    gettext_noop("Ensure this field has no more than {max_length} characters."),
    gettext_noop("Ensure this filename has at most {max_length} characters (it has {length})."),
    gettext_noop("Ensure this value is greater than or equal to {min_value}."),
    gettext_noop("Ensure this value is less than or equal to {max_value}."),
    gettext_noop('Enter a valid "slug" consisting of Unicode letters, numbers, underscores, or hyphens.'),
    gettext_noop('Enter a valid "slug" consisting of letters, numbers, underscores or hyphens.'),
    gettext_noop("Enter a valid URL."),
    gettext_noop("Enter a valid email address."),
    gettext_noop("Expected a date but got a datetime."),
    gettext_noop("Expected a datetime but got a date."),
    gettext_noop('Expected a dictionary of items but got type "{input_type}".'),
    gettext_noop('Expected a list of items but got type "{input_type}".'),
    gettext_noop("Expected available in {wait} second."),
    gettext_noop("Expected available in {wait} seconds."),
    gettext_noop("Incorrect type. Expected URL string, received {data_type}."),
    gettext_noop("Incorrect type. Expected pk value, received {data_type}."),
    gettext_noop("Not a valid string."),
    gettext_noop("The submitted data was not a file. Check the encoding type on the form."),
    gettext_noop("Upload a valid image. The file you uploaded was either not an image or a corrupted image."),
)


def to_form_message(text: str, code: str = "") -> str:
    """Return what a form says in place of a message of the API, which is in the language of the request."""
    if code == INVALID_CHOICE_CODE:
        return _("Choose one of the options.")
    return next((str(message) for api_message, message in FORM_MESSAGES if str(api_message) == text), text)
