"""The one routine behind every verdict on an imported mechanism."""
