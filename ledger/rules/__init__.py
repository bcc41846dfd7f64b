"""What movements are for, said beforehand: rules, what history says, proposals, and the inbox."""
