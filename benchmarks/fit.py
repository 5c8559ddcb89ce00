"""Keras's `fit` on gradtape and on TensorFlow: the same model, data and seed, in turns.

    python benchmarks/fit.py [--rounds 3] [--threads 1] [--clock cpu]
    python benchmarks/fit.py --python gradtape=PATH/bin/python --python tensorflow=PATH/bin/python

Each run has its own process. *Cold* is the time from the start of Python to the end of the first
epoch: import, build, compile and train. *Warm* is the fastest of the later epochs. The losses of
both are compared before times are printed.
"""

import argparse
import json
import subprocess

import numpy as np

from peer import PeerError, find_interpreter, make_environment, parse_threads, pin_to_cores
from worker import CLOCKS

EPOCHS = 4
SAMPLES = 6000
NEEDS = {
    "gradtape": "keras",
    "tensorflow": "tensorflow",
}  # the module that each interpreter must have


def make_model(keras, kind):
    layers = keras.layers
    if kind == "MLP":
        parts = [layers.Flatten(), layers.Dense(128, "relu"), layers.Dropout(0.2)]
    else:
        parts = [layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D()]
        parts += [layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten()]
    return keras.Sequential([keras.Input((28, 28, 1)), *parts, layers.Dense(10)])


def make_images():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, SAMPLES)
    patterns = rng.normal(size=(10, 28, 28, 1))
    noise = rng.normal(size=(SAMPLES, 28, 28, 1))
    return (patterns[labels] + 4 * noise).astype("float32"), labels


def train(framework, kind, clock):
    """Train in this process; print the time at which each epoch ended, and the losses."""
    begin = CLOCKS[clock]() if clock == "wall" else 0
    if framework == "gradtape":
        import gradtape

        gradtape.install()
    import keras

    ends = []
    keras.utils.set_random_seed(1)
    net = make_model(keras, kind)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile("adam", loss, metrics=["accuracy"])
    x, y = make_images()
    mark = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: ends.append(CLOCKS[clock]()))
    history = net.fit(x, y, batch_size=32, epochs=EPOCHS, verbose=0, callbacks=[mark])
    print(json.dumps({"ends": [end - begin for end in ends], "loss": history.history["loss"]}))


def train_in_new_process(python, framework, kind, clock, threads):
    """Run `train` in a new process; return cold and warm time and the losses."""
    done = subprocess.run(
        [python, __file__, "--train", framework, kind, clock],
        capture_output=True,
        text=True,
        check=False,
        env={**make_environment(threads), "KERAS_BACKEND": "tensorflow"},
    )
    if done.returncode:
        raise PeerError(f"{framework}: {done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    ends = answer["ends"]
    return {"cold": ends[0], "warm": min(np.diff(ends)), "loss": answer["loss"]}


def compare_fit(kind, pythons, args):
    """Check that the losses agree, and print the best times of both."""
    runs = {framework: [] for framework in pythons}
    for _ in range(args.rounds):
        for framework, python in pythons.items():
            runs[framework].append(
                train_in_new_process(python, framework, kind, args.clock, args.threads)
            )
    ours, theirs = runs["gradtape"], runs["tensorflow"]
    np.testing.assert_allclose(ours[0]["loss"], theirs[0]["loss"], rtol=1e-3)
    for what in ["cold", "warm"]:
        a, b = (min(one[what] for one in some) for some in (ours, theirs))
        print(f"{kind}, {what}: gradtape {a:.2f} s, TensorFlow {b:.2f} s, ratio {a / b:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=parse_threads, default=1)
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH")
    args = parser.parse_args()
    if args.train:
        train(*args.train)
        return
    chosen = dict(pair.split("=", 1) for pair in args.python)
    pythons = {
        name: find_interpreter(needs, {needs: chosen.get(name)}) for name, needs in NEEDS.items()
    }
    pin_to_cores(args.threads)
    for kind in ["MLP", "CNN"]:
        compare_fit(kind, pythons, args)


if __name__ == "__main__":
    main()
