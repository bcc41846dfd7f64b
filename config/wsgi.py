"""What the server runs."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

# Every view is loaded now, once, and not by the first request of each worker: that one does not wait for it, and what
# was loaded before the fork lies in memory once for all of them.
_ = get_resolver().url_patterns
