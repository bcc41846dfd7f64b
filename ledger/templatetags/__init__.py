"""What templates of the ledger and of the pages around it say."""
