"""Claims about a mechanism that is not ours: examined or bet against, vouched for, never believed."""
