"""What several statements of W19 rest on."""
