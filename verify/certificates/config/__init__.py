"""The configuration of a certificate: its keys, what they refuse, and its draft."""
