"""``python -m verify`` is ``pdp-verify``."""

from .cli import main

if __name__ == "__main__":
    main()
