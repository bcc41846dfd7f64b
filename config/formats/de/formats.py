"""The same: see ``config.formats.en.formats``."""

from config.formats.en.formats import *  # noqa: F403
