"""How Django writes and reads what no form of ours does: as in Britain, whatever the language of the page.

Amounts and days of people are in ``companies.locales``; in a drawing's numbers a comma would break it.
"""

DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
DATE_INPUT_FORMATS = ["%Y-%m-%d", "%d/%m/%Y"]
