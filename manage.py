#!/usr/bin/env python
"""The door to every command; the database that a command needs is running when it starts."""

import sys

from config.startup import main

if __name__ == "__main__":
    main(sys.argv)
