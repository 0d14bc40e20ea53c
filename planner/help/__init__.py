"""Pages that explain: REST v1, and what each figure of money means."""
