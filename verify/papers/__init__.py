"""Every published statement, one folder a paper and one file a statement."""
