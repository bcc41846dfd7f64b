"""Device name of a request, from its User-Agent."""

# The first match counts: most browsers also name others.
BROWSERS = (
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python-requests/", "Python script"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)
MAX_DEVICE_NAME_LENGTH = 40  # characters of what ``device`` says


def describe_device(agent: str) -> str:
    """Describe a User-Agent with our own words, safe to show in e-mails and pages.

    >>> describe_device("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0")
    'Firefox on Windows'
    >>> describe_device("Mozilla/5.0 (Linux; Android 14) Chrome/126.0.0.0 Mobile Safari/537.36 EdgA/126.0")
    'Edge on Android'
    >>> describe_device("curl/8.5.0")
    'curl'
    >>> describe_device("Something else (X11; Linux x86_64)")
    'Unknown browser on Linux'
    >>> describe_device("")
    'Unknown device'
    """
    browser = next((name for mark, name in BROWSERS if mark in agent), None)
    system = next((name for mark, name in SYSTEMS if mark in agent), None)
    if system is None:
        return browser or "Unknown device"
    return f"{browser or 'Unknown browser'} on {system}"
