"""What the page of a company shows: each section is asked of one query and drawn as a chart with its table."""
