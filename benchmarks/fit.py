"""Keras's `fit` on gradtape and on TensorFlow: the same model, data and seed, in turns.

    python benchmarks/fit.py [--rounds 3] [--threads 1] [--clock cpu]
    python benchmarks/fit.py --python gradtape=PATH/bin/python --python tensorflow=PATH/bin/python

Each run is a process of its own. *Cold* is all that a user waits for: Python starts, imports,
builds, compiles and trains the first epoch. *Warm* is the best of the epochs after it. The losses
of both are compared before times are printed.
"""

import argparse
import json
import subprocess

import numpy as np

from peer import PeerError, environment, interpreter, stay_on_cores, threads_of
from worker import CLOCKS

EPOCHS = 4
SAMPLES = 6000
NEEDS = {"gradtape": "keras", "tensorflow": "tensorflow"}  # what the Python of each must have


def model(keras, kind):
    layers = keras.layers
    if kind == "MLP":
        parts = [layers.Flatten(), layers.Dense(128, "relu"), layers.Dropout(0.2)]
    else:
        parts = [layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D()]
        parts += [layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten()]
    return keras.Sequential([keras.Input((28, 28, 1)), *parts, layers.Dense(10)])


def pictures():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, SAMPLES)
    patterns = rng.normal(size=(10, 28, 28, 1))
    noise = rng.normal(size=(SAMPLES, 28, 28, 1))
    return (patterns[labels] + 4 * noise).astype("float32"), labels


def train(framework, kind, clock):
    """What a process does: train, and say how long it took until each epoch began and ended."""
    begin = CLOCKS[clock]() if clock == "wall" else 0
    if framework == "gradtape":
        import gradtape

        gradtape.install()
    import keras

    ends = []
    keras.utils.set_random_seed(1)
    net = model(keras, kind)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile("adam", loss, metrics=["accuracy"])
    x, y = pictures()
    mark = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: ends.append(CLOCKS[clock]()))
    history = net.fit(x, y, batch_size=32, epochs=EPOCHS, verbose=0, callbacks=[mark])
    print(json.dumps({"ends": [end - begin for end in ends], "loss": history.history["loss"]}))


def run(python, framework, kind, clock, threads):
    """The same in a new process."""
    done = subprocess.run(
        [python, __file__, "--train", framework, kind, clock],
        capture_output=True,
        text=True,
        check=False,
        env={**environment(threads), "KERAS_BACKEND": "tensorflow"},
    )
    if done.returncode:
        raise PeerError(f"{framework}: {done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    ends = answer["ends"]
    return {"cold": ends[0], "warm": min(np.diff(ends)), "loss": answer["loss"]}


def compare(kind, pythons, args):
    """Best times of both, once their losses agree."""
    runs = {framework: [] for framework in pythons}
    for _ in range(args.rounds):
        for framework, python in pythons.items():
            runs[framework].append(run(python, framework, kind, args.clock, args.threads))
    ours, theirs = runs["gradtape"], runs["tensorflow"]
    np.testing.assert_allclose(ours[0]["loss"], theirs[0]["loss"], rtol=1e-3)
    for what in ["cold", "warm"]:
        a, b = (min(one[what] for one in some) for some in (ours, theirs))
        print(f"{kind}, {what}: gradtape {a:.2f} s, TensorFlow {b:.2f} s, ratio {a / b:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=threads_of, default=1)
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH")
    args = parser.parse_args()
    if args.train:
        train(*args.train)
        return
    chosen = dict(pair.split("=", 1) for pair in args.python)
    pythons = {name: interpreter(needs, {needs: chosen.get(name)}) for name, needs in NEEDS.items()}
    stay_on_cores(args.threads)
    for kind in ["MLP", "CNN"]:
        compare(kind, pythons, args)


if __name__ == "__main__":
    main()
