"""The figures of RW21 on synthetic data, one page each."""
