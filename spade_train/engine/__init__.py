"""vLLM as an engine of :mod:`spade_train.playing.engine`: in this process, or at a server."""
