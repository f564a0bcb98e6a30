"""Every published statement, decided: the registry, the run, the record, the command line."""
