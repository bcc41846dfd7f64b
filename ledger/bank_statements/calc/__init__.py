"""Pure calculations of bank statements: order of entries, proportional shares."""
