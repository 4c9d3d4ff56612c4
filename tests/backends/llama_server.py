"""llama.cpp's own server: ``python llama_server.py MODEL.gguf PORT SLOTS KEY``. It ends with its parent's pipe."""

from __future__ import annotations

import os
import sys
import threading


def main() -> None:
    import xllamacpp

    model, port, slots, key = sys.argv[1:]
    said = xllamacpp.CommonParams()
    said.model.path = model
    said.hostnames, said.port = ["127.0.0.1"], int(port)
    said.n_parallel, said.n_ctx = int(slots), 1024 * int(slots)
    said.cpuparams.n_threads = said.cpuparams_batch.n_threads = (
        1  # more would wait for each other on a busy machine
    )
    said.n_threads_http, said.warmup, said.api_keys = 4, False, [key]
    server = xllamacpp.Server(said)
    print(server.listening_address, flush=True)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threading.Event().wait()


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
