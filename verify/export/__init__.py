"""What other tools read of a record: results for code scanning, declarations, an entry of a public register."""
