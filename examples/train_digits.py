"""Train a small digit classifier with a plain `GradientTape` loop.

    python -m gradtape examples/train_digits.py        (or: make demo)

It is a TensorFlow program: `python examples/train_digits.py` runs it on TensorFlow itself.
"""

import argparse
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import tensorflow as tf

import drawing

DATA = Path(__file__).parent / "data" / "digits.npz"
SIZES = [64, 128, 64, 10]


def load(rng):
    """Pixels scaled to [0, 1] and labels, shuffled, as (training set, test set)."""
    with np.load(DATA) as file:
        images, labels = file["images"], file["labels"]
    order = rng.permutation(len(images))
    x = (images[order].reshape(-1, 64) / 16).astype(np.float32)
    y = labels[order].astype(np.int32)
    return (x[360:], y[360:]), (x[:360], y[:360])


def initialise(rng):
    """One weight matrix (He, 2015) and one bias for each layer."""
    variables = []
    for n, m in pairwise(SIZES):
        weight = rng.normal(0, np.sqrt(2 / n), (n, m))
        variables += [tf.Variable(weight, dtype=tf.float32), tf.Variable(tf.zeros(m))]
    return variables


def predict(variables, x):
    """Logits of a multilayer perceptron: matmul, add, relu."""
    *hidden, weight, bias = variables
    for w, b in zip(hidden[::2], hidden[1::2], strict=True):
        x = tf.nn.relu(tf.matmul(x, w) + b)
    return tf.matmul(x, weight) + bias


def loss_of(variables, x, y):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=predict(variables, x))
    return tf.reduce_mean(losses)


def accuracy_of(variables, x, y):
    guess = tf.argmax(predict(variables, x), axis=1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(tf.equal(guess, y), tf.float32))


class Adam:
    """Adam (Kingma and Ba, 2015), written out with `assign`."""

    def __init__(self, variables, rate, beta1=0.9, beta2=0.999):
        self.rate, self.beta1, self.beta2 = rate, beta1, beta2
        self.step = 0
        self.variables = variables
        self.means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def apply(self, gradients):
        self.step += 1
        debias = (1 - self.beta2**self.step) ** 0.5 / (1 - self.beta1**self.step)
        slots = zip(gradients, self.variables, self.means, self.squares, strict=True)
        for gradient, variable, mean, square in slots:
            mean.assign_add((gradient - mean) * (1 - self.beta1))
            square.assign_add((gradient * gradient - square) * (1 - self.beta2))
            variable.assign_sub(mean / (tf.sqrt(square) + 1e-7) * (self.rate * debias))


def train_step(variables, optimizer, x, y):
    """Record the loss, compute its gradient with the tape, and take a step."""
    with tf.GradientTape() as tape:
        loss = loss_of(variables, x, y)
    gradients = tape.gradient(loss, variables)
    optimizer.apply(gradients)
    return loss


def train(variables, train_set, test_set, epochs, batch, rng):
    """Train; return loss and accuracy on both sets after each epoch."""
    optimizer = Adam(variables, rate=0.002)
    images, labels = train_set
    history = {"train loss": [], "test loss": [], "train accuracy": [], "test accuracy": []}
    with drawing.Progress(epochs * -(-len(images) // batch)) as progress:
        for epoch in range(1, epochs + 1):
            order = rng.permutation(len(images))
            for start in range(0, len(order), batch):
                rows = order[start : start + batch]
                x, y = tf.constant(images[rows]), tf.constant(labels[rows])
                loss = train_step(variables, optimizer, x, y)
                progress.advance(f"epoch {epoch}/{epochs}  loss {float(loss):.4f}")
            for name, data in (("train", train_set), ("test", test_set)):
                history[f"{name} loss"].append(float(loss_of(variables, *data)))
                history[f"{name} accuracy"].append(float(accuracy_of(variables, *data)))
    return history


def check_gradient(variables, x, y, rng):
    """The tape's derivative along a random direction, and a central difference, in float64."""
    points = [tf.cast(v, tf.float64) for v in variables]
    direction = [tf.constant(rng.normal(0, 0.01, p.shape)) for p in points]
    x = tf.cast(x, tf.float64)

    def along(t):
        return loss_of([p + t * d for p, d in zip(points, direction, strict=True)], x, y)

    t = tf.Variable(0.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        loss = along(t)
    h = 1e-6
    return float(tape.gradient(loss, t)), float(along(h) - along(-h)) / (2 * h)


def report(variables, test_set, history, rng):
    """Draw the results, and check one gradient against finite differences."""
    drawing.chart("loss", history["train loss"], history["test loss"])
    drawing.chart("accuracy", history["train accuracy"], history["test accuracy"])
    images, labels = test_set
    one_of_each = np.unique(labels, return_index=True)[1][:8]
    guesses = tf.argmax(predict(variables, images[one_of_each]), axis=1)
    drawing.digits(images[one_of_each], guesses.numpy(), labels[one_of_each])

    tape, difference = check_gradient(variables, images[:64], labels[:64], rng)
    agree = abs(tape - difference) < 1e-5 * abs(difference)
    print(f"test accuracy   {history['test accuracy'][-1]:.1%}")
    print(
        f"gradient check  tape {tape:.9f}, finite difference {difference:.9f}:",
        "they agree" if agree else "THEY DISAGREE",
    )
    return agree


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--png", type=Path, default=Path("train_digits.png"), help="file of the plot"
    )
    parser.add_argument("--no-plot", action="store_true", help="draw in the terminal only")
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    train_set, test_set = load(rng)
    variables = initialise(rng)
    print(f"{len(train_set[0])} digits to learn, {len(test_set[0])} to be tested on\n")
    history = train(variables, train_set, test_set, args.epochs, args.batch, rng)
    agree = report(variables, test_set, history, rng)
    if not args.no_plot:
        drawing.save_png(args.png, history)
        print(f"picture         {args.png}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
