"""A mechanism under examination: guarded calls, outputs of any type as rows, and the conduct that audits rest on."""
