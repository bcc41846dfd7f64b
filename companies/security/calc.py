"""What to call the device that a request came from."""

# The first that is found counts: most browsers name others too, which they want to be taken for.
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
    ("python-requests/", "a Python script"),
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
LONGEST = 40  # characters of what ``device`` says


def device(agent: str) -> str:
    """A User-Agent in words, all of them ours, so that a mail and a page may say them.

    >>> device("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0")
    'Firefox on Windows'
    >>> device("Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36 EdgA/126.0")
    'Edge on Android'
    >>> device("curl/8.5.0")
    'curl'
    >>> device("Something else (X11; Linux x86_64)")
    'Unknown browser on Linux'
    >>> device("")
    'Unknown device'
    """
    browser = next((name for mark, name in BROWSERS if mark in agent), None)
    system = next((name for mark, name in SYSTEMS if mark in agent), None)
    if system is None:
        return browser or "Unknown device"
    return f"{browser or 'Unknown browser'} on {system}"
