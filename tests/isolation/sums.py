"""Numbers that a worker computes as any process does."""

from __future__ import annotations

import hashlib

import numpy as np


def fingerprint() -> str:
    """One text for many of NumPy's results, bit by bit; large enough for its fastest paths."""
    generator = np.random.default_rng(7)
    square = generator.normal(size=(120, 120))
    results = [
        *(square @ square, np.linalg.solve(square, square[0]), *np.linalg.svd(square), np.linalg.det(square)),
        *(np.fft.fft(square), np.fft.rfft2(square), np.linalg.eigvals(square @ square.T)),
        np.einsum("ij,jk,kl->il", square, square, square, optimize=True),
        *(np.sort(square, axis=None), np.cumsum(square), np.exp(square), square.astype(np.float32) ** 3),
        *(generator.integers(10**9, size=999), generator.permutation(999), generator.gamma(2, size=99)),
        np.random.Generator(np.random.MT19937(3)).random(99),
        np.zeros((900, 900)).sum(),
    ]
    return hashlib.sha256(b"".join(np.ascontiguousarray(result).tobytes() for result in results)).hexdigest()
