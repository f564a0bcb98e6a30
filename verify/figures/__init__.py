"""The papers' figures that need no external data, on synthetic and embedded data: one file each, a page each."""
