"""``python -m rcweb.cli``."""

from rcweb.cli import main

main()
