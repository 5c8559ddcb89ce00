"""Statements that draw random numbers with given seeds."""

from tests.fuzz.generator.scope import Scope, Unfit

STATELESS = [
    *("tf.random.stateless_normal(SHAPE, SEED)", "tf.random.stateless_uniform(SHAPE, SEED)"),
    "tf.random.stateless_uniform(SHAPE, SEED, 0, 7, 'int32')",
    *(
        "tf.random.stateless_truncated_normal(SHAPE, SEED)",
        "tf.random.stateless_gamma(SHAPE, SEED, 1.5)",
    ),
    *(
        "tf.random.stateless_poisson(SHAPE, SEED, 2.0)",
        "tf.random.stateless_normal(SHAPE, SEED, dtype='float64')",
    ),
]
STATEFUL = [
    *("tf.random.normal(SHAPE, seed=S)", "tf.random.uniform(SHAPE, seed=S)"),
    *(
        "tf.random.uniform(SHAPE, 0, 9, 'int32', seed=S)",
        "tf.random.truncated_normal(SHAPE, seed=S)",
    ),
    "tf.random.gamma(SHAPE, 1.5, seed=S)",
]
GENERATOR = ["G.normal(SHAPE)", "G.uniform(SHAPE)", "G.uniform(SHAPE, 0, 9, 'int32')"]


def draw_stateless(scope: Scope) -> None:
    """Random numbers that depend on nothing but a seed."""
    shape = scope.draw_part_of(tuple(scope.setting.sizes))
    seed = f"[{scope.draw.randint(0, 99)}, {scope.draw.randint(0, 99)}]"
    scalars = [n for n in scope.names if scope.dtype(n) == "int32" and not scope.shape(n)]
    if scalars and scope.draw.random() < 0.5:
        seed = f"tf.stack([{scope.draw.choice(scalars)}, 3])"
    text = scope.draw.choice(STATELESS)
    scope.add(text.replace("SHAPE", str(list(shape))).replace("SEED", seed))


def draw_stateful(scope: Scope) -> None:
    """Random numbers of an op with a seed of its own, which advances from call to call."""
    if not scope.has_streams or "python branches" in scope.setting.traits:
        raise Unfit
    shape = str(list(scope.draw_part_of(tuple(scope.setting.sizes))))
    seed = str(1000 + scope.setting.count)  # no two ops share a stream
    scope.setting.traits.add("streams")
    scope.add(scope.draw.choice(STATEFUL).replace("SHAPE", shape).replace("seed=S", f"seed={seed}"))


def draw_from_generator(scope: Scope) -> None:
    """Random numbers of a `tf.random.Generator`."""
    shape = str(list(scope.draw_part_of(tuple(scope.setting.sizes))))
    generators = [name for name in scope.setting.states if name[0] == "g" and name in scope.env]
    if not generators:
        raise Unfit
    text = scope.draw.choice(GENERATOR).replace("SHAPE", shape)
    scope.add(text.replace("G.", f"{generators[0]}."))
