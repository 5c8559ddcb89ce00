"""Eight threads call one tf.function that adds to a variable. No update may be lost (TensorFlow loses none)."""

import sys
import threading

from checking import check, end

import gradtape as tf

sys.setswitchinterval(1e-4)
THREADS, CALLS = 8, 60


def counted(size, make):
    v, one = tf.Variable(tf.zeros([size])), tf.ones([size])

    def body():
        v.assign_add(one)

    f = make(body)
    for _ in range(3):
        f()

    def work():
        for _ in range(CALLS):
            f()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return int(v.numpy()[0])


for kind, make in (
    ("eager", lambda f: f),
    ("function", tf.function),
    ("compiled", lambda f: tf.function(f, jit_compile=True)),
):
    for size in (1, 1000, 200000):
        check(
            f"{kind}, {size} elements, updates that arrived",
            3 + THREADS * CALLS,
            counted(size, make),
        )
end()
