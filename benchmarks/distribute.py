"""Step time of two processes with 10 MB of gradients: gradtape, PyTorch's DDP and TensorFlow.

    python benchmarks/distribute.py --torch PYTHON --tensorflow PYTHON

PYTHON are interpreters that have PyTorch and TensorFlow. All processes stay alive, and the
libraries take turns: each round measures some steps of each of them. Each process has one thread.
The table has medians over rounds of the slower worker's mean step time and processor time. The
latter is comparable on a busy machine, too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

SOURCES = Path(__file__).resolve().parents[1] / "src"
SIZES = (784, 1024, 1024, 640, 10)  # 2.5 million weights
BATCH = 8


def make_layers() -> list[tuple[np.ndarray, np.ndarray]]:
    """The same initial weights for each library."""
    rng = np.random.default_rng(0)
    return [
        ((rng.standard_normal((m, n)) / np.sqrt(m)).astype(np.float32), np.zeros(n, np.float32))
        for m, n in pairwise(SIZES)
    ]


def make_batch(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The batch of a worker."""
    rng = np.random.default_rng(rank + 1)
    x = rng.standard_normal((BATCH, SIZES[0])).astype(np.float32)
    return x, rng.integers(0, SIZES[-1], BATCH)


def make_tensorflow_step(rank: int, ports: list[int]) -> Callable[[], float]:
    """A step of TensorFlow's or gradtape's MultiWorkerMirroredStrategy."""
    addresses = [f"127.0.0.1:{port}" for port in ports]
    task = {"type": "worker", "index": rank}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": addresses}, "task": task})
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        variables = [tf.Variable(array) for layer in make_layers() for array in layer]
    x, y = map(tf.constant, make_batch(rank))

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            h = x
            for i in range(0, len(variables), 2):
                h = h @ variables[i] + variables[i + 1]
                h = tf.nn.relu(h) if i + 2 < len(variables) else h
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, h)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=2 * BATCH)
        gradients = tape.gradient(loss, variables)
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    @tf.function
    def step(x, y):
        return strategy.run(replica_step, args=(x, y))

    return lambda: float(step(x, y))


def make_gradtape_step(rank: int, ports: list[int]) -> Callable[[], float]:
    """A step of gradtape: the same program."""
    sys.path.insert(0, str(SOURCES))
    import gradtape

    gradtape.install()
    return make_tensorflow_step(rank, ports)


def make_torch_step(rank: int, ports: list[int]) -> Callable[[], float]:
    """A step of PyTorch's DistributedDataParallel with gloo."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(ports[0]))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    modules: list[nn.Module] = []
    for kernel, bias in make_layers():
        linear = nn.Linear(*kernel.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(kernel.T.copy()))
            linear.bias.copy_(torch.from_numpy(bias))
        modules += [linear, nn.ReLU()]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*modules[:-1]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = map(torch.from_numpy, make_batch(rank))

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item() / 2

    return step


LIBRARIES = {
    "gradtape": make_gradtape_step,
    "torch": make_torch_step,
    "tensorflow": make_tensorflow_step,
}


def serve(library: str, rank: int, ports: list[int], steps: int) -> None:
    """A worker: measures `steps` steps for each line of standard input."""
    step = LIBRARIES[library](rank, ports)
    losses = [step() for _ in range(5)]
    print(json.dumps(losses), flush=True)
    for _ in sys.stdin:
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(steps):
            step()
        times = time.perf_counter() - wall, time.process_time() - processor
        print(*[each / steps for each in times], flush=True)


class Pair:
    """The two workers of a library."""

    def __init__(self, library: str, python: str, steps: int) -> None:
        ports = [str(20000 + (os.getpid() * 7 + len(library) * 2 + i) % 12000) for i in range(2)]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        self.workers = [
            subprocess.Popen(
                [python, __file__, "--serve", library, str(rank), *ports, "--steps", str(steps)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
            for rank in range(2)
        ]

    def read(self) -> list[str]:
        lines = [worker.stdout.readline() for worker in self.workers]
        if not all(lines):
            raise RuntimeError("a worker has ended")
        return lines

    def measure(self) -> tuple[float, ...]:
        """Step time and processor time of the slower worker, in milliseconds."""
        for worker in self.workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        times = [map(float, line.split()) for line in self.read()]
        return tuple(1000 * max(each) for each in zip(*times, strict=True))

    def stop(self) -> None:
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", help="interpreter that has PyTorch")
    parser.add_argument("--tensorflow", help="interpreter that has TensorFlow")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        library, rank, *ports = options.serve
        return serve(library, int(rank), [int(port) for port in ports], options.steps)
    pythons = {
        "gradtape": sys.executable,
        "torch": options.torch,
        "tensorflow": options.tensorflow,
    }
    pairs: dict[str, Pair] = {}
    try:
        for library, python in pythons.items():
            if python:
                pairs[library] = Pair(library, python, options.steps)
        for library, pair in pairs.items():
            losses = [json.loads(line) for line in pair.read()]
            total = [round(sum(each), 5) for each in zip(*losses, strict=True)]
            print(f"{library:10} losses {total}")
        times: dict[str, list[tuple[float, ...]]] = {library: [] for library in pairs}
        for _ in range(options.rounds):
            for library, pair in pairs.items():
                times[library].append(pair.measure())
    finally:
        for pair in pairs.values():
            pair.stop()
    print("\n| library | step, ms | processor time, ms | our step | our processor time |")
    print("|---|---|---|---|---|")
    medians = {
        library: [statistics.median(column) for column in zip(*measured, strict=True)]
        for library, measured in times.items()
    }
    for library, (wall, processor) in medians.items():
        ours = medians["gradtape"]
        ratios = f"{ours[0] / wall:.2f} | {ours[1] / processor:.2f}"
        print(f"| {library} | {wall:.1f} | {processor:.1f} | {ratios} |")
    return None


if __name__ == "__main__":
    main()
