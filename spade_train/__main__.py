"""``python -m spade_train``, which ``torchrun -m`` starts."""

from spade_train.cli import main

main()
