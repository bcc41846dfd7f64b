"""Names of companies that do not exist."""

FIRST_WORDS = (
    "Alder", "Amber", "Arbor", "Aster", "Atlas", "Beacon", "Birch", "Bright", "Canvas", "Cedar", "Cinder", "Clear",
    "Cobalt", "Coral", "Crest", "Delta", "Drift", "Ember", "Evergreen", "Fable", "Fjord", "Flint", "Garnet", "Glade",
    "Granite", "Harbour", "Hazel", "Heron", "Indigo", "Iris", "Juniper", "Kestrel", "Lantern", "Larch", "Linden",
    "Lumen", "Maple", "Marble", "Meadow", "Meridian", "Nimbus", "North", "Oak", "Onyx", "Opal", "Orchard", "Pebble",
    "Quartz", "Raven", "River", "Rowan", "Saffron", "Sierra", "Silver", "Slate", "Sparrow", "Summit", "Tandem",
    "Thistle", "Timber", "Vertex", "Violet", "Willow", "Zephyr",
)  # fmt: skip
SECOND_WORDS = (
    "Analytics", "Bakery", "Biotech", "Books", "Brewing", "Capital", "Ceramics", "Clinics", "Cloud", "Coffee",
    "Commerce", "Consulting", "Cycles", "Dental", "Design", "Energy", "Engineering", "Events", "Farms", "Fitness",
    "Foods", "Freight", "Furniture", "Games", "Hotels", "Instruments", "Insurance", "Interactive", "Labs", "Learning",
    "Legal", "Logistics", "Media", "Mobility", "Music", "Optics", "Partners", "Pharma", "Photo", "Press", "Robotics",
    "Security", "Software", "Solar", "Studio", "Supply", "Systems", "Textiles", "Tools", "Travel", "Ventures",
)  # fmt: skip
STRIDE = 1013  # shares no divisor with the number of combinations, so that neighbours differ in both words


def build_company_name(number: int) -> str:
    """Return the name of the company with a number; no two numbers share one.

    >>> build_company_name(0), build_company_name(1)
    ('Alder Analytics', 'Silver Energy')
    """
    combinations = len(FIRST_WORDS) * len(SECOND_WORDS)
    round_, place = divmod(number, combinations)
    place = place * STRIDE % combinations
    name = f"{FIRST_WORDS[place % len(FIRST_WORDS)]} {SECOND_WORDS[place // len(FIRST_WORDS)]}"
    return f"{name} {round_ + 1}" if round_ else name
