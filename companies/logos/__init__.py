"""Company logos: uploaded ones and those of the company's website."""
