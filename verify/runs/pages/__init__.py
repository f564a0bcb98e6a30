"""What a run found, by cause and by severity; the short report, and what every report says of its method."""
