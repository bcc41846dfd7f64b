"""Django's formats for everything our own code does not format: British, in every language.

Users' amounts and dates are formatted in ``companies.locales``; a comma would break the numbers of an SVG.
"""

DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
DATE_INPUT_FORMATS = ["%Y-%m-%d", "%d/%m/%Y"]
