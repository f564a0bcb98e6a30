"""Every published statement, one folder a paper, one file a statement, and a table alone for a definition."""
