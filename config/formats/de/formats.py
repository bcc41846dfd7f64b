"""Same formats as ``config.formats.en.formats``."""

from config.formats.en.formats import *  # noqa: F403
