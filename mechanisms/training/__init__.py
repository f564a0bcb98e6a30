"""Models trained by noisy gradients: private training step by step, and what each record can lose by it."""

MECHANISMS: tuple[str, ...] = ()
