"""``python -m spade_envs.cli``."""

from spade_envs.cli import main

main()
