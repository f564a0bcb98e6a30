"""Mechanisms behind a line of JSON: a command that stays open, or a service."""
