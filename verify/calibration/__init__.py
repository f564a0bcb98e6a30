"""The instrument measured against itself: false-alarm rates on true claims, power on false ones."""
