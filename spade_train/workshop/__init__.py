"""From a document to versions in the registry: who writes designs, what admission says of them, repairs.

What is used outside of training (``attempts``, ``desk``, ``outside``) loads no PyTorch; ``workshop`` does.
"""
