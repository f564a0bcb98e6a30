"""Models trained by noisy gradients: private training step by step, and what each record can lose by it."""

#: The modules that hold a mechanism, in the order in which they are offered.
MECHANISMS: tuple[str, ...] = ("dp_sgd",)
