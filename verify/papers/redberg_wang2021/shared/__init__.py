"""What several statements of RW21 rest on."""
