"""The figures of W19 on synthetic and embedded data, one page each."""
