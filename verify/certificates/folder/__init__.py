"""The files of a certificate: written whole, attested, and compared by `check`."""
