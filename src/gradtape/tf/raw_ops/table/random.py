"""Raw ops that draw random numbers."""

ROWS = """
RandomGammaGrad(alpha: T, sample: T) -> output: T
    where T: float32 | float64
    is raw.gradient.random_gamma_grad(alpha, sample)

RandomIndexShuffle(index: dtype, seed: Tseed, max_index: dtype, rounds: int=4) -> output: dtype
    where dtype: int32 | int64 | uint32 | uint64; Tseed: int32 | int64 | uint32 | uint64
    is raw.sampling_part.random_index_shuffle(index, seed, max_index, rounds)

StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed, output_dtype: type=int64) ->
    output: output_dtype
    where T: real; Tseed: index=int64
    is tf.random.stateless_categorical(logits, num_samples, seed, output_dtype)

StatelessParameterizedTruncatedNormal(shape: S, seed: Tseed, means: dtype, stddevs: dtype,
    minvals: dtype, maxvals: dtype) -> output: dtype
    where S: index; Tseed: index=int64; dtype: float16 | float32 | float64
    is tf.random.stateless_parameterized_truncated_normal(shape, seed, means, stddevs, minvals,
    maxvals)

StatelessRandomBinomial(shape: S, seed: Tseed, counts: T, probs: T, dtype: type=int64) ->
    output: dtype
    where S: index; Tseed: index=int64; T: float16 | float32 | float64 | int32 | int64=float64
    is tf.random.stateless_binomial(shape, seed, counts, probs, dtype)

StatelessRandomGammaV2(shape: T, seed: Tseed, alpha: dtype) -> output: dtype
    where dtype: float16 | float32 | float64; T: index; Tseed: index=int64
    is tf.random.stateless_gamma(shape, seed, alpha, dtype=tf.convert_to_tensor(alpha).dtype)

StatelessRandomNormal(shape: T, seed: Tseed, dtype: type=float32) -> output: dtype
    where T: index=int32; Tseed: index=int64
    is tf.random.stateless_normal(shape, seed, dtype=dtype)

StatelessRandomPoisson(shape: T, seed: Tseed, lam: Rtype, dtype: type) -> output: dtype
    where Rtype: float16 | float32 | float64 | int32 | int64; T: index; Tseed: index=int64
    is tf.random.stateless_poisson(shape, seed, lam, dtype)

StatelessRandomUniform(shape: T, seed: Tseed, dtype: type=float32) -> output: dtype
    where T: index=int32; Tseed: index=int64
    is tf.random.stateless_uniform(shape, seed, dtype=dtype)

StatelessRandomUniformFullInt(shape: T, seed: Tseed, dtype: type=uint64) -> output: dtype
    where T: index=int32; Tseed: int32 | int64 | uint32 | uint64=int64
    is tf.random.stateless_uniform(shape, seed, None, None, dtype)

StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> output: dtype
    where dtype: index; T: index; Tseed: index=int64
    is tf.random.stateless_uniform(shape, seed, minval, maxval,
    tf.convert_to_tensor(minval).dtype)

StatelessTruncatedNormal(shape: T, seed: Tseed, dtype: type=float32) -> output: dtype
    where T: index=int32; Tseed: index=int64
    is tf.random.stateless_truncated_normal(shape, seed, dtype=dtype)
"""
