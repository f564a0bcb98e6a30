"""The figures of W18 on synthetic data, one page each."""
