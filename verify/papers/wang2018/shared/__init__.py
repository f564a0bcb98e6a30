"""What several statements of W18 rest on."""
