"""Datasets whose element specs are those of TensorFlow 2.21, recorded in `spec_programs.json`.

`python -m tests.pipeline.element.spec_programs` records them anew, with TensorFlow installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_suffix(".json")
PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Register a program: a function of the module `tf` that makes a dataset."""
    PROGRAMS[function.__name__] = function
    return function


def show_spec(tf: Any, spec: Any) -> Any:
    """A spec as plain values, which JSON can hold."""
    if isinstance(spec, tuple):
        return [show_spec(tf, one) for one in spec]
    if isinstance(spec, dict):
        return {key: show_spec(tf, spec[key]) for key in sorted(spec)}
    kind = type(spec).__name__
    if kind in ("DatasetSpec", "OptionalSpec"):
        inner = spec.element_spec if kind == "DatasetSpec" else spec._value_structure
        return [kind, show_spec(tf, inner)]
    if kind == "NoneTensorSpec":
        return kind
    shape = spec.shape
    sizes = None if shape.rank is None else list(shape.as_list())
    more = [spec.ragged_rank, spec.row_splits_dtype.name] if kind == "RaggedTensorSpec" else []
    return [kind, sizes, spec.dtype.name, *more]


def strings(tf: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(["a b", "c", "d e f"])


def open_rows(tf: Any, dtype: str = "float32", size: Any = None, *more: Any) -> Any:
    """Vectors of unknown length."""
    return tf.data.Dataset.from_generator(
        lambda: iter(()), output_signature=tf.TensorSpec([size, *more], dtype)
    )


def numbers(tf: Any) -> Any:
    return tf.data.Dataset.range(10)


# Decoding


@program
def decode_raw_of_unknown_length(tf):
    return strings(tf).map(lambda s: tf.io.decode_raw(s, tf.uint8))


@program
def decode_raw_with_reshape(tf):
    return strings(tf).map(lambda s: tf.reshape(tf.io.decode_raw(s, tf.float32), [3, 4]))


@program
def decode_raw_with_open_reshape(tf):
    return strings(tf).map(lambda s: tf.reshape(tf.io.decode_raw(s, tf.float32), [-1, 4]))


@program
def decode_raw_of_batches(tf):
    return strings(tf).batch(2).map(lambda s: tf.io.decode_raw(s, tf.int16))


@program
def decode_raw_of_fixed_length(tf):
    return strings(tf).map(lambda s: tf.io.decode_raw(s, tf.int16, fixed_length=8))


@program
def parse_tensor(tf):
    return strings(tf).map(lambda s: tf.io.parse_tensor(s, tf.float32))


@program
def parse_tensor_with_known_shape(tf):
    return strings(tf).map(lambda s: tf.ensure_shape(tf.io.parse_tensor(s, tf.float32), [2, None]))


@program
def parse_tensor_set_shape(tf):
    def parse(s):
        x = tf.io.parse_tensor(s, tf.int32)
        x.set_shape([None, 3])
        return x

    return strings(tf).map(parse)


@program
def parse_tensor_arithmetic(tf):
    return strings(tf).map(lambda s: tf.io.parse_tensor(s, tf.float32) * 2 + 1)


@program
def parse_tensor_reduced(tf):
    return strings(tf).map(lambda s: tf.reduce_sum(tf.io.parse_tensor(s, tf.float32)))


@program
def parse_tensor_cast_and_scaled(tf):
    return strings(tf).map(lambda s: tf.cast(tf.io.parse_tensor(s, tf.uint8), tf.float32) / 255.0)


@program
def serialize_tensor(tf):
    return numbers(tf).map(tf.io.serialize_tensor)


@program
def read_file(tf):
    return strings(tf).map(tf.io.read_file)


@program
def decode_png(tf):
    return strings(tf).map(lambda s: tf.io.decode_png(s, channels=3))


@program
def decode_jpeg(tf):
    return strings(tf).map(lambda s: tf.io.decode_jpeg(tf.io.read_file(s)))


@program
def decode_image(tf):
    return strings(tf).map(tf.io.decode_image)


@program
def decode_image_without_animations(tf):
    return strings(tf).map(lambda s: tf.io.decode_image(s, channels=3, expand_animations=False))


@program
def decode_bmp(tf):
    return strings(tf).map(lambda s: tf.io.decode_bmp(s, channels=3))


@program
def decode_gif(tf):
    return strings(tf).map(tf.io.decode_gif)


@program
def image_file_pipeline(tf):
    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        image = tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.resize(image, [32, 48]), tf.strings.split(path, "/")[-2] == "cats"

    return strings(tf).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(8)


@program
def resize_of_decoded_image(tf):
    return strings(tf).map(
        lambda s: tf.image.resize(tf.io.decode_image(s, expand_animations=False), [10, 20])
    )


@program
def extract_jpeg_shape(tf):
    return strings(tf).map(tf.io.extract_jpeg_shape)


@program
def encode_png(tf):
    return strings(tf).map(lambda s: tf.io.encode_png(tf.io.decode_png(s, channels=3)))


@program
def decode_wav(tf):
    return strings(tf).map(lambda s: tf.audio.decode_wav(s, desired_channels=1))


@program
def decode_wav_with_samples(tf):
    return strings(tf).map(lambda s: tf.audio.decode_wav(s, 1, 16000).audio)


@program
def decode_csv(tf):
    return strings(tf).map(lambda s: tuple(tf.io.decode_csv(s, [[0.0], [0], [""]])))


@program
def decode_csv_of_batches(tf):
    return strings(tf).batch(4).map(lambda s: tf.stack(tf.io.decode_csv(s, [0.0] * 3), axis=1))


@program
def decode_json_example(tf):
    return strings(tf).map(tf.io.decode_json_example)


@program
def decode_base64(tf):
    return strings(tf).batch(2).map(lambda s: (tf.io.decode_base64(s), tf.io.encode_base64(s)))


@program
def decode_compressed(tf):
    return strings(tf).map(lambda s: tf.io.decode_compressed(s, "GZIP"))


@program
def parse_single_example_fixed(tf):
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "weights": tf.io.FixedLenFeature([3, 2], tf.float32),
    }
    return strings(tf).map(lambda s: tf.io.parse_single_example(s, features))


@program
def parse_single_example_varlen(tf):
    features = {"a": tf.io.VarLenFeature(tf.int64), "b": tf.io.VarLenFeature(tf.string)}
    return strings(tf).map(lambda s: tf.io.parse_single_example(s, features))


@program
def parse_single_example_sequence(tf):
    features = {
        "a": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
        "r": tf.io.VarLenFeature(tf.int64),
    }
    return strings(tf).map(lambda s: tf.io.parse_single_example(s, features))


@program
def parse_single_example_sparse_feature(tf):
    features = {"s": tf.io.SparseFeature("i", "v", tf.float32, 10)}
    return strings(tf).map(lambda s: tf.io.parse_single_example(s, features))


@program
def parse_example_of_batches(tf):
    features = {
        "x": tf.io.FixedLenFeature([4], tf.float32),
        "v": tf.io.VarLenFeature(tf.int64),
        "r": tf.io.VarLenFeature(tf.string),
        "s": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    return strings(tf).batch(4).map(lambda s: tf.io.parse_example(s, features))


@program
def parse_example_then_decode(tf):
    features = {"image": tf.io.FixedLenFeature([], tf.string)}

    def parse(s):
        one = tf.io.parse_single_example(s, features)
        pixels = tf.io.decode_raw(one["image"], tf.uint8)
        return tf.reshape(tf.cast(pixels, tf.float32), [28, 28, 1])

    return strings(tf).map(parse).batch(32, drop_remainder=True)


@program
def parse_single_sequence_example(tf):
    context = {"n": tf.io.FixedLenFeature([], tf.int64)}
    sequence = {
        "t": tf.io.FixedLenSequenceFeature([], tf.int64),
        "v": tf.io.VarLenFeature(tf.float32),
        "r": tf.io.VarLenFeature(tf.int64),
    }
    return strings(tf).map(lambda s: tf.io.parse_single_sequence_example(s, context, sequence))


# Strings


@program
def string_length_and_case(tf):
    return (
        strings(tf)
        .batch(2)
        .map(lambda s: (tf.strings.length(s), tf.strings.lower(s), tf.strings.upper(s)))
    )


@program
def string_split(tf):
    return strings(tf).map(tf.strings.split)


@program
def string_split_of_batches(tf):
    return strings(tf).batch(2).map(tf.strings.split)


@program
def string_split_to_tensor(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.split(s).to_tensor())


@program
def string_split_to_tensor_of_shape(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.split(s).to_tensor(shape=[None, 8]))


@program
def string_to_number(tf):
    return strings(tf).map(lambda s: tf.strings.to_number(tf.strings.split(s, ",")))


@program
def string_to_number_int(tf):
    return strings(tf).batch(3, True).map(lambda s: tf.strings.to_number(s, tf.int64))


@program
def string_join_and_strip(tf):
    return (
        strings(tf)
        .batch(2)
        .map(lambda s: (tf.strings.join([s, "x"]), tf.strings.strip(s), tf.strings.substr(s, 0, 2)))
    )


@program
def string_regex(tf):
    return (
        strings(tf)
        .batch(2)
        .map(lambda s: (tf.strings.regex_replace(s, "a", "b"), tf.strings.regex_full_match(s, "a")))
    )


@program
def string_hash(tf):
    return strings(tf).map(
        lambda s: (tf.strings.to_hash_bucket_fast(s, 10), tf.strings.to_hash_bucket(s, 5))
    )


@program
def string_hash_strong(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.to_hash_bucket_strong(s, 10, [1, 2]))


@program
def string_bytes_split(tf):
    return strings(tf).map(tf.strings.bytes_split)


@program
def string_bytes_split_of_batches(tf):
    return strings(tf).batch(2).map(tf.strings.bytes_split)


@program
def string_as_string(tf):
    return numbers(tf).batch(3).map(tf.strings.as_string)


@program
def string_format(tf):
    return numbers(tf).map(lambda n: tf.strings.format("{}", n))


@program
def string_reduce_join(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.reduce_join(s))


@program
def string_reduce_join_axis(tf):
    return strings(tf).batch(2).batch(3).map(lambda s: tf.strings.reduce_join(s, axis=-1))


@program
def string_ngrams(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.ngrams(tf.strings.split(s), 2))


@program
def string_unicode_decode(tf):
    return strings(tf).map(lambda s: tf.strings.unicode_decode(s, "UTF-8"))


@program
def string_unicode_decode_of_batches(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.unicode_decode(s, "UTF-8"))


@program
def string_unicode_split(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.unicode_split(s, "UTF-8"))


@program
def string_unicode_encode(tf):
    return open_rows(tf, "int32").map(lambda s: tf.strings.unicode_encode(s, "UTF-8"))


@program
def string_unicode_transcode(tf):
    return strings(tf).batch(2).map(lambda s: tf.strings.unicode_transcode(s, "UTF-8", "UTF-16-BE"))


# Images and random ops


@program
def random_crop(tf):
    return open_rows(tf, "uint8", None, None, 3).map(lambda x: tf.image.random_crop(x, [24, 24, 3]))


@program
def random_crop_of_small_elements(tf):
    data = tf.data.Dataset.from_tensor_slices(tf.zeros([4, 5, 5, 3]))
    return data.map(lambda x: tf.image.random_crop(x, [3, 3, 3]))


@program
def augmentation(tf):
    def augment(image, label):
        image = tf.image.random_flip_left_right(image)
        image = tf.image.random_brightness(image, 0.1)
        image = tf.image.random_contrast(image, 0.5, 1.5)
        image = tf.image.random_saturation(image, 0.5, 1.5)
        return tf.image.random_hue(image, 0.1), label

    data = tf.data.Dataset.from_tensor_slices((tf.zeros([4, 8, 8, 3]), tf.zeros([4], tf.int32)))
    return data.map(augment)


@program
def augmentation_of_open_sizes(tf):
    def augment(image):
        image = tf.image.random_flip_up_down(image)
        image = tf.image.random_brightness(image, 0.1)
        image = tf.image.adjust_contrast(image, 2.0)
        return tf.image.rot90(image)

    return open_rows(tf, "float32", None, None, 3).map(augment)


@program
def crop_to_bounding_box(tf):
    return open_rows(tf, "float32", None, None, 3).map(
        lambda x: tf.image.crop_to_bounding_box(x, 1, 2, 5, 6)
    )


@program
def central_crop(tf):
    return open_rows(tf, "float32", None, None, 3).map(lambda x: tf.image.central_crop(x, 0.5))


@program
def resize_with_crop_or_pad(tf):
    return open_rows(tf, "float32", None, None, 3).map(
        lambda x: tf.image.resize_with_crop_or_pad(x, 10, 12)
    )


@program
def resize_with_pad(tf):
    return open_rows(tf, "float32", None, None, 3).map(
        lambda x: tf.image.resize_with_pad(x, 10, 12)
    )


@program
def pad_to_bounding_box(tf):
    return open_rows(tf, "float32", None, None, 3).map(
        lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 50, 60)
    )


@program
def per_image_standardization(tf):
    return open_rows(tf, "uint8", None, None, 3).map(tf.image.per_image_standardization)


@program
def sample_distorted_bounding_box(tf):
    def crop(image):
        box = tf.zeros([1, 1, 4])
        begin, size, _ = tf.image.sample_distorted_bounding_box(tf.shape(image), box)
        return tf.slice(image, begin, size)

    return open_rows(tf, "uint8", None, None, 3).map(crop)


@program
def rgb_to_grayscale(tf):
    return open_rows(tf, "float32", None, None, 3).map(
        lambda x: (tf.image.rgb_to_grayscale(x), tf.image.rgb_to_hsv(x))
    )


@program
def extract_patches(tf):
    return (
        open_rows(tf, "float32", None, None, 3)
        .batch(2)
        .map(
            lambda x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
        )
    )


@program
def random_uniform_of_sizes(tf):
    return open_rows(tf).map(lambda x: x + tf.random.uniform(tf.shape(x)))


@program
def random_shuffle(tf):
    return open_rows(tf).map(tf.random.shuffle)


@program
def random_int_then_slice(tf):
    def cut(x):
        n = tf.random.uniform([], 0, 3, tf.int32)
        return x[n : n + 5]

    return open_rows(tf).map(cut)


@program
def non_max_suppression(tf):
    return open_rows(tf, "float32", None, 4).map(
        lambda b: tf.image.non_max_suppression(b, tf.reduce_sum(b, 1), 10)
    )


# Python functions


@program
def py_function_that_opens_a_file(tf):
    def read(path):
        with open(path.numpy(), "rb") as file:
            return len(file.read())

    return strings(tf).map(lambda s: tf.py_function(read, [s], tf.int32))


@program
def py_function_with_set_shape(tf):
    def load(s):
        x, y = tf.py_function(lambda t: 1 / 0, [s], [tf.float32, tf.int64])
        x.set_shape([28, 28, None])
        y.set_shape([])
        return x, y

    return strings(tf).map(load)


@program
def py_function_with_specs(tf):
    return strings(tf).map(
        lambda s: tf.py_function(lambda t: 1 / 0, [s], tf.TensorSpec([None, 2], tf.float32))
    )


@program
def py_function_without_results(tf):
    def load(s):
        tf.py_function(lambda t: 1 / 0, [s], [])
        return s

    return strings(tf).map(load)


@program
def numpy_function(tf):
    return strings(tf).map(lambda s: tf.numpy_function(lambda t: 1 / 0, [s], tf.float32))


@program
def numpy_function_several(tf):
    def load(s):
        x, y = tf.numpy_function(lambda t: 1 / 0, [s], (tf.float32, tf.string))
        return tf.reshape(x, [4, -1]), y

    return strings(tf).map(load)


@program
def numpy_function_ensure_shape(tf):
    return strings(tf).map(
        lambda s: tf.ensure_shape(tf.numpy_function(lambda t: 1 / 0, [s], tf.float32), [None, 7])
    )


@program
def py_function_then_batch(tf):
    data = strings(tf).map(lambda s: tf.py_function(lambda t: 1 / 0, [s], tf.float32))
    return data.batch(4)


@program
def py_function_then_ops(tf):
    def load(s):
        x = tf.py_function(lambda t: 1 / 0, [s], tf.float32)
        return tf.nn.relu(x) * 2, tf.shape(x), tf.rank(x), tf.size(x)

    return strings(tf).map(load)


# Values decide sizes


@program
def unique(tf):
    return open_rows(tf, "int32").map(lambda x: tuple(tf.unique(x)))


@program
def unique_with_counts(tf):
    return open_rows(tf, "int32").map(lambda x: tf.unique_with_counts(x)._asdict())


@program
def where_and_boolean_mask(tf):
    return open_rows(tf).map(lambda x: (tf.where(x > 0), tf.boolean_mask(x, x > 0)))


@program
def boolean_mask_of_rows(tf):
    return open_rows(tf, "float32", None, 3).map(
        lambda x: tf.boolean_mask(x, tf.reduce_sum(x, 1) > 0)
    )


@program
def set_operations(tf):
    return (
        open_rows(tf, "int32")
        .batch(2)
        .map(lambda x: (tf.sets.intersection(x, x), tf.sets.size(tf.sets.union(x, x))))
    )


@program
def range_of_values(tf):
    return numbers(tf).map(lambda n: tf.range(n))


@program
def fill_of_values(tf):
    return numbers(tf).map(lambda n: (tf.zeros([n, 3]), tf.fill([2, n], 1.0), tf.ones([n])))


@program
def one_hot(tf):
    return numbers(tf).map(lambda n: (tf.one_hot(n, 10), tf.one_hot(n, tf.cast(n, tf.int32))))


@program
def repeat_of_values(tf):
    return numbers(tf).map(lambda n: tf.repeat([1, 2, 3], tf.cast(n, tf.int32)))


@program
def tile_of_values(tf):
    return numbers(tf).map(lambda n: tf.tile([[1, 2]], [n, 2]))


@program
def sequence_mask(tf):
    return numbers(tf).map(lambda n: (tf.sequence_mask(n), tf.sequence_mask(n, 7)))


@program
def reshape_by_values(tf):
    return open_rows(tf).map(lambda x: tf.reshape(x, [2, tf.shape(x)[0] // 2]))


@program
def slice_by_values(tf):
    return numbers(tf).map(lambda n: (tf.range(10)[:n], tf.range(10)[n], tf.range(10)[2:5]))


@program
def top_k_and_sort(tf):
    return open_rows(tf).map(lambda x: (tf.math.top_k(x, 3).values, tf.sort(x), tf.argsort(x)))


@program
def gather_and_concat(tf):
    return open_rows(tf).map(
        lambda x: (tf.gather(x, [0, 1]), tf.concat([x, x], 0), tf.pad(x, [[1, 2]]))
    )


@program
def bincount(tf):
    return open_rows(tf, "int32").map(
        lambda x: (tf.math.bincount(x), tf.math.bincount(x, minlength=5, maxlength=5))
    )


@program
def segment_sum(tf):
    return open_rows(tf, "int32").map(
        lambda x: (tf.math.segment_sum(x, x), tf.math.unsorted_segment_sum(x, x, 5))
    )


@program
def bucketize_by_lookup(tf):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1
    )
    return strings(tf).map(lambda s: (table.lookup(s), table.lookup(tf.strings.split(s))))


@program
def vocabulary_lookup(tf):
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), 3
    )
    return strings(tf).batch(2).map(lambda s: (table.lookup(tf.strings.split(s)), table.size()))


@program
def mutable_table_lookup(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.0)
    return strings(tf).batch(2).map(lambda s: (table.lookup(s), table[s]))


@program
def dynamic_partition(tf):
    return open_rows(tf, "int32").map(lambda x: tuple(tf.dynamic_partition(x, x % 2, 2)))


# Control flow


@program
def python_if_on_a_value(tf):
    def choose(n):
        if n > 3:
            return n * 2
        return n - 1

    return numbers(tf).map(choose)


@program
def python_if_with_other_shapes(tf):
    def choose(n):
        if n > 3:
            return tf.zeros([2, 3])
        return tf.zeros([4, 3])

    return numbers(tf).map(choose)


@program
def python_while_on_a_value(tf):
    def halve(n):
        while n > 3:
            n = n // 2
        return n

    return numbers(tf).map(halve)


@program
def python_for_over_a_range(tf):
    def add(n):
        total = tf.constant(0, tf.int64)
        for i in tf.range(n):
            total += i
        return total

    return numbers(tf).map(add)


@program
def python_for_over_rows(tf):
    def add(x):
        total = 0.0
        for row in x:
            total += tf.reduce_sum(row)
        return total

    return open_rows(tf, "float32", None, 3).map(add)


@program
def cond_on_a_value(tf):
    return numbers(tf).map(lambda n: tf.cond(n > 3, lambda: n, lambda: n + 1))


@program
def cond_with_other_shapes(tf):
    return open_rows(tf).map(lambda x: tf.cond(tf.size(x) > 3, lambda: x[:2], lambda: x))


@program
def while_loop(tf):
    return numbers(tf).map(lambda n: tf.while_loop(lambda i: i < 10, lambda i: i + 1, [n])[0])


@program
def map_fn_over_rows(tf):
    return open_rows(tf, "float32", None, 3).map(lambda x: tf.map_fn(lambda r: tf.reduce_sum(r), x))


@program
def map_fn_of_decoded(tf):
    return (
        strings(tf)
        .batch(4)
        .map(
            lambda s: tf.map_fn(
                lambda one: tf.image.resize(tf.io.decode_png(one, channels=3), [5, 5]),
                s,
                fn_output_signature=tf.float32,
            )
        )
    )


@program
def vectorized_map(tf):
    return open_rows(tf, "float32", 4, None).map(
        lambda x: tf.vectorized_map(lambda r: tf.reduce_sum(r), x)
    )


@program
def tensor_array(tf):
    def collect(n):
        array = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
        for i in tf.range(3):
            array = array.write(i, n)
        return array.stack()

    return numbers(tf).map(collect)


@program
def assertion(tf):
    def check(x):
        tf.debugging.assert_greater(x, tf.constant(-1, tf.int64))
        tf.print(x)
        return x

    return numbers(tf).map(check)


@program
def scan_of_tensors(tf):
    return open_rows(tf).map(lambda x: tf.scan(lambda a, b: a + b, x))


@program
def nested_function(tf):
    @tf.function
    def double(x):
        return x * 2, tf.shape(x)

    return open_rows(tf).map(double)


@program
def function_with_signature(tf):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def double(x):
        return x * 2

    return open_rows(tf).map(double)


# Structures


@program
def dict_results(tf):
    return numbers(tf).map(lambda n: {"a": n, "b": {"c": [1.0, 2.0], "d": "x"}})


@program
def tuple_and_list_results(tf):
    return numbers(tf).map(lambda n: [n, (n, [n, n])])


@program
def none_results(tf):
    return numbers(tf).map(lambda n: (n, None))


@program
def python_results(tf):
    return numbers(tf).map(lambda n: (1, 2.0, "a", True))


@program
def sparse_results(tf):
    return open_rows(tf).map(lambda x: tf.sparse.from_dense(x))


@program
def sparse_results_of_known_shape(tf):
    return numbers(tf).map(lambda n: tf.SparseTensor([[n]], [1.0], [10]))


@program
def ragged_results(tf):
    return open_rows(tf, "int32").map(lambda x: tf.RaggedTensor.from_row_lengths(x, x))


@program
def ragged_constant_results(tf):
    return numbers(tf).map(lambda n: tf.ragged.constant([[1, 2], [3]]))


@program
def ragged_range(tf):
    return open_rows(tf, "int32").map(tf.ragged.range)


@program
def ragged_slices(tf):
    return tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]]))


@program
def ragged_slices_mapped(tf):
    data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]]))
    return data.map(lambda x: (x * 2, tf.reduce_sum(x)))


@program
def ragged_slices_batched(tf):
    data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3]]))
    return data.batch(2)


@program
def ragged_of_higher_rank(tf):
    data = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1, 2], []], [[3]]]))
    return data.map(lambda x: (x, x.to_tensor(), x.row_lengths(), x.flat_values)).batch(2)


@program
def ragged_batch(tf):
    return open_rows(tf).ragged_batch(4)


@program
def ragged_batch_mapped(tf):
    return open_rows(tf).ragged_batch(4).map(lambda r: (r.to_tensor(), tf.reduce_mean(r, 1), r + 1))


@program
def ragged_bounding_shape(tf):
    return open_rows(tf).ragged_batch(4).map(lambda r: (r.bounding_shape(), r.nrows(), r.values))


@program
def ragged_to_sparse(tf):
    return open_rows(tf).ragged_batch(4).map(lambda r: r.to_sparse())


@program
def ragged_concat_and_stack(tf):
    return open_rows(tf).ragged_batch(4).map(lambda r: (tf.concat([r, r], 1), tf.concat([r, r], 0)))


@program
def ragged_boolean_mask(tf):
    return open_rows(tf, "int32").map(lambda x: tf.ragged.boolean_mask([[1, 2]], [[True, False]]))


@program
def dense_to_ragged(tf):
    return open_rows(tf).apply(tf.data.experimental.dense_to_ragged_batch(4))


@program
def sparse_batch(tf):
    return open_rows(tf).apply(tf.data.experimental.dense_to_sparse_batch(4, [10]))


@program
def sparse_mapped(tf):
    data = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]]))
    return data.map(lambda s: (tf.sparse.to_dense(s), s.indices, s.values, tf.sparse.reduce_sum(s)))


@program
def sparse_to_dense_of_open(tf):
    return open_rows(tf).map(lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x)))


# Datasets from functions


@program
def flat_map_slices(tf):
    return open_rows(tf, "float32", None, 3).flat_map(tf.data.Dataset.from_tensor_slices)


@program
def flat_map_tensors(tf):
    return open_rows(tf).flat_map(lambda x: tf.data.Dataset.from_tensors((x, tf.reduce_sum(x))))


@program
def flat_map_range(tf):
    return numbers(tf).flat_map(lambda n: tf.data.Dataset.range(n))


@program
def flat_map_files(tf):
    return strings(tf).flat_map(lambda s: tf.data.TextLineDataset(s).skip(1))


@program
def flat_map_records(tf):
    return (
        strings(tf).flat_map(tf.data.TFRecordDataset).map(lambda s: tf.io.decode_raw(s, tf.uint8))
    )


@program
def flat_map_repeat(tf):
    return numbers(tf).flat_map(lambda n: tf.data.Dataset.from_tensors(n).repeat(n))


@program
def flat_map_with_inner_map(tf):
    return numbers(tf).flat_map(
        lambda n: tf.data.Dataset.range(5).map(lambda m: (n, m, tf.zeros([n]))).batch(2)
    )


@program
def flat_map_batch_of_values(tf):
    return numbers(tf).flat_map(lambda n: tf.data.Dataset.range(n).batch(n, drop_remainder=True))


@program
def flat_map_generator(tf):
    def make(n):
        return tf.data.Dataset.from_generator(
            lambda k: iter(range(k)), output_signature=tf.TensorSpec([], tf.int32), args=[n]
        )

    return numbers(tf).flat_map(make)


@program
def flat_map_zip(tf):
    return open_rows(tf).flat_map(
        lambda x: tf.data.Dataset.zip(
            (tf.data.Dataset.from_tensor_slices(x), tf.data.Dataset.range(3))
        )
    )


@program
def flat_map_of_tuples(tf):
    data = tf.data.Dataset.zip((numbers(tf), strings(tf)))
    return data.flat_map(lambda n, s: tf.data.Dataset.from_tensors({"n": n, "s": s}))


@program
def interleave_files(tf):
    return strings(tf).interleave(
        lambda s: tf.data.TextLineDataset(s).map(lambda line: (line, s)),
        cycle_length=2,
        num_parallel_calls=2,
    )


@program
def interleave_fixed_records(tf):
    return strings(tf).interleave(lambda s: tf.data.FixedLengthRecordDataset(s, 4))


@program
def interleave_windows_of_slices(tf):
    return open_rows(tf).interleave(
        lambda x: tf.data.Dataset.from_tensor_slices(x).batch(3, drop_remainder=True)
    )


@program
def window(tf):
    return numbers(tf).window(3)


@program
def window_of_tuples(tf):
    return numbers(tf).map(lambda n: (n, {"a": tf.zeros([3])})).window(3, shift=1)


@program
def window_flat_map_batch(tf):
    return numbers(tf).window(3, 1, 1, True).flat_map(lambda w: w.batch(3))


@program
def window_flat_map_batch_drop(tf):
    return numbers(tf).window(3, 1, 1, True).flat_map(lambda w: w.batch(3, drop_remainder=True))


@program
def window_of_tuples_flat_map(tf):
    data = tf.data.Dataset.zip((numbers(tf), strings(tf))).window(2)
    return data.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2))))


@program
def window_then_split(tf):
    data = numbers(tf).window(5, 1, 1, True).flat_map(lambda w: w.batch(5))
    return data.map(lambda w: (w[:-1], w[-1:], w[-1]))


@program
def window_map_reduce(tf):
    return (
        numbers(tf).window(3).map(lambda w: w.reduce(tf.constant(0, tf.int64), lambda a, b: a + b))
    )


@program
def window_map_get_single_element(tf):
    return numbers(tf).window(3).map(lambda w: w.batch(3).get_single_element())


@program
def window_map_iteration(tf):
    def add(w):
        total = tf.constant(0, tf.int64)
        for n in w:
            total += n
        return total

    return numbers(tf).window(3).map(add)


@program
def window_map_cardinality(tf):
    return numbers(tf).window(3).map(lambda w: w.cardinality())


@program
def nested_datasets(tf):
    return numbers(tf).map(lambda n: tf.data.Dataset.range(n))


@program
def nested_datasets_of_windows(tf):
    return numbers(tf).window(4).map(lambda w: w.map(lambda n: tf.cast(n, tf.float32)).batch(2))


@program
def group_by_window(tf):
    return numbers(tf).group_by_window(lambda n: n % 2, lambda key, w: w.batch(3), window_size=3)


@program
def group_by_window_with_key(tf):
    return numbers(tf).group_by_window(
        lambda n: n % 2,
        lambda key, w: w.map(lambda n: (key, n, tf.zeros([key]))).batch(3),
        window_size_func=lambda key: key + 1,
    )


@program
def group_by_window_padded(tf):
    return open_rows(tf).group_by_window(
        lambda x: tf.cast(tf.size(x), tf.int64) // 5,
        lambda key, w: w.padded_batch(4, padded_shapes=[None]),
        window_size=4,
    )


@program
def group_by_window_reduced(tf):
    return numbers(tf).group_by_window(
        lambda n: n % 3,
        lambda key, w: tf.data.Dataset.from_tensors(
            (key, w.reduce(tf.constant(0.0), lambda s, n: s + tf.cast(n, tf.float32)))
        ),
        window_size=10,
    )


@program
def bucket_by_sequence_length(tf):
    return open_rows(tf).bucket_by_sequence_length(lambda x: tf.size(x), [3, 5], [2, 2, 2])


@program
def bucket_by_sequence_length_of_tuples(tf):
    data = open_rows(tf).map(lambda x: (x, tf.size(x)))
    return data.bucket_by_sequence_length(lambda x, n: n, [3, 5], [2, 2, 2], drop_remainder=True)


# Transformations


@program
def batches(tf):
    return numbers(tf).batch(3), numbers(tf).batch(3, drop_remainder=True)


@program
def padded_batches(tf):
    return open_rows(tf, "float32", None, 3).padded_batch(4), open_rows(tf).padded_batch(4, [7])


@program
def padded_batch_of_decoded(tf):
    data = strings(tf).map(lambda s: (tf.io.decode_raw(s, tf.int32), tf.strings.length(s)))
    return data.padded_batch(4, drop_remainder=True)


@program
def padded_batch_of_dicts(tf):
    data = strings(tf).map(lambda s: {"a": tf.strings.split(s), "b": tf.strings.length(s)})
    return data.padded_batch(
        2, padded_shapes={"a": [None], "b": []}, padding_values={"a": "", "b": 0}
    )


@program
def unbatch(tf):
    return open_rows(tf, "float32", None, 3).unbatch(), open_rows(tf).ragged_batch(3).unbatch()


@program
def rebatch(tf):
    return numbers(tf).batch(4).rebatch(2), numbers(tf).batch(4, True).rebatch([1, 2])


@program
def filters(tf):
    return open_rows(tf).filter(lambda x: tf.size(x) > 3).enumerate()


@program
def scans(tf):
    return open_rows(tf).scan(tf.constant(0.0), lambda s, x: (s + tf.reduce_sum(x), (x, s)))


@program
def scan_with_growing_state(tf):
    return numbers(tf).scan(
        tf.zeros([0], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), tf.concat([s, [x]], 0))
    )


@program
def take_while(tf):
    return numbers(tf).take_while(lambda n: n < 5)


@program
def concatenated(tf):
    return tf.data.Dataset.from_tensors(tf.zeros([3])).concatenate(
        tf.data.Dataset.from_tensors(tf.zeros([4]))
    )


@program
def sampled(tf):
    a = open_rows(tf)
    b = tf.data.Dataset.from_tensors(tf.zeros([4]))
    return tf.data.Dataset.sample_from_datasets([a, b]), tf.data.Dataset.sample_from_datasets(
        [b, a]
    )


@program
def unique_elements(tf):
    return strings(tf).unique(), numbers(tf).shuffle(3).repeat(2).cache().prefetch(1)


@program
def zipped_dicts(tf):
    return tf.data.Dataset.zip({"a": numbers(tf), "b": (strings(tf), open_rows(tf))})


@program
def generator_of_types(tf):
    return tf.data.Dataset.from_generator(lambda: iter(()), (tf.int32, tf.string))


@program
def generator_of_types_and_shapes(tf):
    return tf.data.Dataset.from_generator(
        lambda: iter(()), (tf.int32, tf.float32), ([], [None, 2])
    ).map(lambda a, b: (a + 1, tf.transpose(b)))


@program
def generator_of_unknown_rank(tf):
    return tf.data.Dataset.from_generator(lambda: iter(()), tf.float32).map(
        lambda x: (x * 2, tf.reshape(x, [-1]), tf.reduce_mean(x), tf.expand_dims(x, 0))
    )


@program
def generator_of_unknown_rank_more(tf):
    return tf.data.Dataset.from_generator(lambda: iter(()), tf.float32).map(
        lambda x: (tf.transpose(x), x[0], tf.concat([x, x], 0), tf.matmul(x, x), tf.shape(x))
    )


@program
def generator_of_unknown_rank_images(tf):
    def prepare(x):
        x = tf.cast(x, tf.float32) / 255.0
        x.set_shape([None, None, 3])
        return tf.image.resize(x, [8, 8])

    return tf.data.Dataset.from_generator(lambda: iter(()), tf.uint8).map(prepare)


@program
def generator_of_ragged(tf):
    return tf.data.Dataset.from_generator(
        lambda: iter(()), output_signature=tf.RaggedTensorSpec([2, None], tf.int32)
    ).map(lambda r: (r, tf.reduce_sum(r, 1), r.row_lengths(), r[0], r * 2))


@program
def generator_of_sparse(tf):
    return tf.data.Dataset.from_generator(
        lambda: iter(()), output_signature=tf.SparseTensorSpec([None, 4], tf.float32)
    ).map(lambda s: (s, tf.sparse.to_dense(s), tf.sparse.reduce_sum(s, 1)))


@program
def variables_in_a_map(tf):
    v = tf.Variable([1.0, 2.0])
    counter = tf.Variable(0, dtype=tf.int64)

    def count(n):
        counter.assign_add(n)
        return v * tf.cast(n, tf.float32), counter.read_value()

    return numbers(tf).map(count)


@program
def gradient_in_a_map(tf):
    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x)
        return tape.gradient(y, x)

    return open_rows(tf).map(differentiate)


@program
def linear_algebra(tf):
    return open_rows(tf, "float32", None, 3).map(
        lambda x: (x @ tf.transpose(x), tf.linalg.norm(x), tf.einsum("ij,kj->ik", x, x))
    )


@program
def signal(tf):
    return open_rows(tf).map(lambda x: (tf.signal.stft(x, 16, 8), tf.signal.frame(x, 4, 2)))


@program
def spectrogram_of_wav(tf):
    def load(s):
        audio, _ = tf.audio.decode_wav(tf.io.read_file(s), desired_channels=1)
        audio = tf.squeeze(audio, -1)
        return tf.abs(tf.signal.stft(audio, 255, 128))[..., tf.newaxis]

    return strings(tf).map(load)


@program
def convolution(tf):
    return (
        open_rows(tf, "float32", None, None, 3)
        .batch(2)
        .map(lambda x: tf.nn.conv2d(x, tf.zeros([3, 3, 3, 5]), 2, "SAME"))
    )


@program
def broadcasting(tf):
    data = tf.data.Dataset.zip((open_rows(tf), open_rows(tf, "float32", 3)))
    return data.map(lambda a, b: (a + b, a[:, None] * b, tf.stack([a, a])))


@program
def shapes_of_open_sizes(tf):
    return open_rows(tf, "float32", None, 3).map(
        lambda x: (tf.shape(x), tf.shape(x)[0], tf.size(x), tf.rank(x), tf.zeros_like(x))
    )


@program
def squeeze_and_expand(tf):
    return open_rows(tf, "float32", None, 1).map(
        lambda x: (tf.squeeze(x, 1), tf.expand_dims(x, 0), tf.squeeze(x))
    )


@program
def split_of_open_sizes(tf):
    return open_rows(tf, "float32", None, 4).map(
        lambda x: (tuple(tf.split(x, 2, 1)), tuple(tf.split(x, 2, 0)), tuple(tf.unstack(x, axis=1)))
    )


@program
def csv_lines(tf):
    def parse(line):
        *values, label = tf.io.decode_csv(line, [0.0] * 4 + [0])
        return dict(zip("abcd", values, strict=True)), label

    return tf.data.TextLineDataset(["x.csv"]).map(parse).batch(2)


@program
def text_pipeline(tf):
    def clean(s):
        s = tf.strings.regex_replace(tf.strings.lower(s), "[^a-z ]", "")
        words = tf.strings.split(s)[:10]
        return tf.concat([["<s>"], words, ["</s>"]], 0)

    return strings(tf).map(clean).padded_batch(4)


@program
def char_pipeline(tf):
    def split(s):
        return s[:-1], s[1:]

    data = tf.data.Dataset.from_tensor_slices(tf.strings.unicode_split("hello world", "UTF-8"))
    return data.batch(5, drop_remainder=True).map(split)


@program
def snapshot_and_options(tf):
    return numbers(tf).with_options(tf.data.Options()).take(3).skip(1).shard(2, 0)


@program
def rejection_resample(tf):
    return numbers(tf).rejection_resample(lambda n: tf.cast(n % 2, tf.int32), [0.5, 0.5])


def record() -> None:
    """Write what TensorFlow says of each program."""
    import tensorflow as tf

    found = {}
    for name, function in PROGRAMS.items():
        try:
            made = function(tf)
            made = made if isinstance(made, tuple) else (made,)
            found[name] = [show_spec(tf, one.element_spec) for one in made]
        except Exception as error:
            sys.stderr.write(f"{name}: {type(error).__name__}: {str(error)[:300]}\n")
            found[name] = type(error).__name__
    RECORDED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    record()
