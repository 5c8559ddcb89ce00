"""One training step of real Keras models, on gradtape and on the peers under the same Keras.

    python benchmarks/models.py [--only lstm …] [--turns 20] [--seconds 0.5] [--busy 2]
    python benchmarks/models.py --python gradtape=PATH/bin/python --python jax=PATH/bin/python …

Each framework has its own process; they train in short turns, while the others wait. Printed are
the least time of a step, the peak memory of the process, and the ratio to the best peer. The times
are processor time, or with `--busy n` elapsed time (the median) beside n processes that compute all
the time.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager

import numpy as np

from peer import PeerError, find_interpreter, make_environment, parse_threads

BACKENDS = {"gradtape": "tensorflow", "tensorflow": "tensorflow", "jax": "jax", "torch": "torch"}
NEEDS = {"gradtape": "keras", "tensorflow": "tensorflow", "jax": "jax", "torch": "torch"}
# Steps before the measurement: gradtape may change the engine up to call 256, JAX compiles.
WARM_STEPS = 300
WARM_SECONDS = 4  # of processor time, enough for models of many milliseconds a step


def stack(keras, shape, parts, dtype=None):
    return keras.Sequential([keras.Input(shape, dtype=dtype), *parts])


def make_mlp(keras, layers):
    parts = [layers.Dense(512, "relu"), layers.Dropout(0.2), layers.Dense(512, "relu")]
    return stack(keras, (784,), [*parts, layers.Dense(10)]), (32, 784), None


def make_cnn(keras, layers):
    parts = []
    for filters in (32, 64):
        parts += [layers.Conv2D(filters, 3, activation="relu"), layers.MaxPooling2D()]
    parts += [layers.Flatten(), layers.Dropout(0.5), layers.Dense(10)]
    return stack(keras, (28, 28, 1), parts), (64, 28, 28, 1), None


def make_resnet(keras, layers):
    def convolve(x, filters, size, stride, relu=True):
        x = layers.Conv2D(filters, size, stride, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        return layers.ReLU()(x) if relu else x

    entry = keras.Input((32, 32, 3))
    x = convolve(entry, 16, 3, 1)
    for filters, first in ((16, 1), (32, 2), (64, 2)):
        for stride in (first, 1, 1):
            y = convolve(convolve(x, filters, 3, stride), filters, 3, 1, relu=False)
            if stride != 1:
                x = convolve(x, filters, 1, stride, relu=False)
            x = layers.ReLU()(layers.Add()([x, y]))
    out = layers.Dense(10)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(entry, out), (32, 32, 32, 3), None


def make_mobilenet(keras, layers):
    model = keras.applications.MobileNetV2(
        (96, 96, 3), alpha=0.35, weights=None, classes=10, classifier_activation=None
    )
    return model, (16, 96, 96, 3), None


def make_generator(keras, layers):
    parts = [layers.Dense(8 * 8 * 128), layers.Reshape((8, 8, 128))]
    for filters in (128, 128, 64):
        parts += [layers.Conv2DTranspose(filters, 4, 2, "same"), layers.LeakyReLU(0.2)]
    parts += [layers.Conv2D(3, 5, padding="same", activation="sigmoid")]
    return stack(keras, (128,), parts), (4, 128), None


def make_discriminator(keras, layers):
    parts = []
    for filters in (64, 128, 128):
        parts += [layers.Conv2D(filters, 4, 2, "same"), layers.LeakyReLU(0.2)]
    parts += [layers.Flatten(), layers.Dropout(0.2), layers.Dense(10)]
    return stack(keras, (64, 64, 3), parts), (32, 64, 64, 3), None


def make_unet(keras, layers):
    def convolve(x, filters):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
            x = layers.ReLU()(layers.BatchNormalization()(x))
        return x

    entry = keras.Input((64, 64, 3))
    first = convolve(entry, 16)
    second = convolve(layers.MaxPooling2D()(first), 32)
    x = convolve(layers.MaxPooling2D()(second), 64)
    for filters, skipped in ((32, second), (16, first)):
        x = layers.Concatenate()([layers.Conv2DTranspose(filters, 2, 2)(x), skipped])
        x = convolve(x, filters)
    return keras.Model(entry, layers.Conv2D(3, 1)(x)), (8, 64, 64, 3), None


def make_transformer(keras, layers, tokens=64, vocabulary=5000, width=128, heads=4, blocks=2):
    entry = keras.Input((tokens,), dtype="int32")
    x = layers.Embedding(vocabulary, width)(entry)
    for _ in range(blocks):
        y = layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = layers.LayerNormalization()(x + y)
        y = layers.Dense(width)(layers.Dense(4 * width, "gelu")(x))
        x = layers.LayerNormalization()(x + y)
    out = layers.Dense(10)(layers.GlobalAveragePooling1D()(x))
    return keras.Model(entry, out), (32, tokens), vocabulary


def make_gpt(keras, layers, tokens=128, vocabulary=2000, width=256):
    entry = keras.Input((tokens,), dtype="int32")
    x = layers.Embedding(vocabulary, width)(entry)
    for _ in range(4):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 64)(y, y, use_causal_mask=True)
        y = layers.LayerNormalization()(x)
        x = x + layers.Dense(width)(layers.Dense(4 * width, "gelu")(y))
    out = layers.Dense(vocabulary)(layers.LayerNormalization()(x))
    return keras.Model(entry, out), (8, tokens), vocabulary


def make_vision_transformer(keras, layers):
    entry = keras.Input((32, 32, 3))
    x = layers.Reshape((64, 96))(layers.Conv2D(96, 4, 4)(entry))
    for _ in range(3):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(3, 32)(y, y)
        y = layers.LayerNormalization()(x)
        x = x + layers.Dense(96)(layers.Dense(192, "gelu")(y))
    out = layers.Dense(10)(layers.GlobalAveragePooling1D()(x))
    return keras.Model(entry, out), (32, 32, 32, 3), None


def make_text_cnn(keras, layers):
    parts = [layers.Embedding(5000, 64), layers.Conv1D(128, 5, activation="relu")]
    parts += [layers.GlobalMaxPooling1D(), layers.Dense(10)]
    return stack(keras, (200,), parts, "int32"), (32, 200), 5000


def make_lstm(keras, layers):
    parts = [layers.Embedding(5000, 64), layers.LSTM(64), layers.Dense(10)]
    return stack(keras, (100,), parts, "int32"), (32, 100), 5000


def make_bilstm(keras, layers):
    parts = [layers.Embedding(5000, 64, mask_zero=True), layers.Bidirectional(layers.LSTM(64))]
    return stack(keras, (60,), [*parts, layers.Dense(10)], "int32"), (32, 60), 5000


def make_bigru(keras, layers):
    parts = [layers.Bidirectional(layers.GRU(64, return_sequences=True)), layers.GRU(32)]
    return stack(keras, (50, 16), [*parts, layers.Dense(10)]), (32, 50, 16), None


MODELS = {
    "mlp": make_mlp,
    "cnn": make_cnn,
    "resnet20": make_resnet,
    "mobilenet": make_mobilenet,
    "dcgan generator": make_generator,
    "dcgan discriminator": make_discriminator,
    "unet": make_unet,
    "transformer": make_transformer,
    "gpt": make_gpt,
    "vision transformer": make_vision_transformer,
    "text cnn": make_text_cnn,
    "lstm": make_lstm,
    "bilstm": make_bilstm,
    "bigru": make_bigru,
}


def make_step(framework, name):
    """Build and compile the model in this process; return a function that trains one step."""
    if framework == "gradtape":
        import gradtape

        gradtape.install()
    import keras

    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    model, shape, vocabulary = MODELS[name](keras, keras.layers)
    x = rng.normal(size=shape).astype("float32")
    if vocabulary:
        x = rng.integers(1, vocabulary, shape).astype("int32")
        x[np.arange(shape[1]) >= rng.integers(5, shape[1] + 1, (shape[0], 1))] = 0
    loss, y = "mse", rng.uniform(size=(shape[0], *model.output_shape[1:])).astype("float32")
    if len(model.output_shape) < 4:  # classes of samples or of tokens, not images
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        y = rng.integers(0, model.output_shape[-1], (shape[0], *model.output_shape[1:-1]))
    model.compile(keras.optimizers.Adam(1e-3), loss)
    return lambda: float(model.train_on_batch(x, y))


def serve_steps(framework, name):
    """Train in this process: for each line, seconds and a clock, print the times of steps."""
    begin = time.process_time()
    step = make_step(framework, name)
    first = step()
    ready = time.process_time()
    for count in range(WARM_STEPS):
        if count >= 3 and time.process_time() > ready + WARM_SECONDS:
            break
        step()
    warm = time.process_time() - begin
    print(json.dumps({"loss": first, "warm": warm}), flush=True)
    for line in sys.stdin:
        seconds, clock = line.split()
        read_clock = time.perf_counter if clock == "elapsed" else time.process_time
        steps, end = [], read_clock() + float(seconds)
        while not steps or read_clock() < end:
            begin = time.perf_counter(), time.process_time()
            step()
            steps.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"steps": steps, "peak": peak}), flush=True)


class Trainer:
    """A process that trains one model on one framework."""

    def __init__(self, python, framework, name, threads):
        environment = make_environment(1 if threads == 1 else threads)
        if threads != 1:  # the default number of threads
            environment = {k: v for k, v in environment.items() if not k.endswith("_NUM_THREADS")}
        self.framework = framework
        self.steps = []
        self.peak = 0
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            [python, __file__, "--train", framework, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**environment, "KERAS_BACKEND": BACKENDS[framework]},
        )
        try:
            self.start = self.read()
        except PeerError:
            self.stop()
            raise

    def read(self):
        """Read the next answer of the process."""
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.errors.seek(0)
        raise PeerError(f"{self.framework}: {self.errors.read()[-2000:]}")

    def measure(self, seconds, clock):
        """Let the process train for this time."""
        self.process.stdin.write(f"{seconds} {clock}\n")
        self.process.stdin.flush()
        answer = self.read()
        self.steps += answer["steps"]
        self.peak = answer["peak"]

    def time_of(self, clock):
        """Median of the elapsed times, or the least processor time."""
        elapsed, processor = np.array(self.steps).T
        return float(np.median(elapsed) if clock == "elapsed" else processor.min())

    def stop(self):
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.errors.close()


@contextmanager
def run_competitor():
    """Keep one core busy with another process."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def compare_models(name, pythons, args):
    """Train a model on all frameworks in short turns, and print one row."""
    clock = "elapsed" if args.busy else "processor"
    trainers = {}
    try:
        for framework, python in pythons.items():
            trainers[framework] = Trainer(python, framework, name, args.threads)
        for _ in range(args.turns):
            for trainer in trainers.values():
                trainer.measure(args.seconds, clock)
        times = {key: trainer.time_of(clock) for key, trainer in trainers.items()}
        peaks = {key: trainer.peak for key, trainer in trainers.items()}
    finally:
        for trainer in trainers.values():
            trainer.stop()
    best = min((times[key] for key in times if key != "gradtape"), default=float("nan"))
    cells = [f"{times[key] * 1e3:.1f}" for key in pythons]
    cells += [f"{times['gradtape'] / best:.2f}", *(f"{peaks[key]:.0f}" for key in pythons)]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn")
    parser.add_argument("--busy", type=int, default=0, help="number of competing processes")
    parser.add_argument("--threads", type=parse_threads, default=1)
    parser.add_argument("--python", action="append", default=[], metavar="FRAMEWORK=PATH")
    args = parser.parse_args()
    if args.train:
        serve_steps(*args.train)
        return
    chosen = dict(pair.split("=", 1) for pair in args.python)
    found = {key: find_interpreter(need, {need: chosen.get(key)}) for key, need in NEEDS.items()}
    pythons = {key: python for key, python in found.items() if python is not None}
    titles = [f"{key}, ms" for key in pythons] + ["ratio"] + [f"{key}, MB" for key in pythons]
    print(f"| model | {' | '.join(titles)} |\n|---|{'---:|' * len(titles)}")
    with ExitStack() as competitors:
        for _ in range(args.busy):
            competitors.enter_context(run_competitor())
        for name in args.only:
            compare_models(name, pythons, args)


if __name__ == "__main__":
    main()
