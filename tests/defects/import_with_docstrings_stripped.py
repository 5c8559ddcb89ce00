"""`python -OO` strips docstrings and assertions; importing and using gradtape works all the same."""

import subprocess
import sys

from checking import check, end

code = "import gradtape as tf; print(int(tf.reduce_sum(tf.constant([1, 2]))), tf.function(lambda x: x + 1)(tf.constant(1)).numpy())"
done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)
check("what python -OO prints", "3 2", done.stdout.strip() or done.stderr.strip().splitlines()[-1])
end()
