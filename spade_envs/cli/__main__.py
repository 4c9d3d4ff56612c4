"""``python -m spade_envs.cli``."""

from spade_envs.cli.app import main

main()
