"""The web pages that say what movements were for."""
