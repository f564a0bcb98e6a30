"""False claims that each auditor must refute."""
