"""True claims repeated: how often each auditor misses."""
