"""Tasks, executors, store, record and followers of every long command."""
