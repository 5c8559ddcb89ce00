"""Host ops of images, sound and serialized data. They take and return bytes; none opens a file."""

from __future__ import annotations

from gradtape.tf.io.parse_example import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
)
from gradtape.tf.io.ragged_feature import PARTITIONS, RaggedFeature, UniformRowLength
from gradtape.tf.saved_model.attribute_type import (
    ARRAY,
    DTYPE,
    FLAG,
    INTEGER,
    LABEL,
    NUMBER,
    SHAPE,
    SIZE,
    TENSOR_LIKE,
    TEXT,
    AnyOf,
    Choice,
    DictOf,
    Integer,
    Optional,
    Record,
    SequenceOf,
    TupleOf,
)
from gradtape.tf.saved_model.op_schema import CallOp, HostOp, RawFunctionOp

CHANNELS = Integer(0, 4)
OPTIONAL_VALUE = Optional(TENSOR_LIKE)
PARTITION_RECORDS = tuple(
    Record(kind, length=SIZE) if kind is UniformRowLength else Record(kind, key=LABEL)
    for kind in PARTITIONS
)
FEATURE_RECORDS = (
    Record(
        RaggedFeature,
        dtype=DTYPE,
        value_key=Optional(LABEL),
        partitions=SequenceOf(AnyOf(*PARTITION_RECORDS)),
        row_splits_dtype=DTYPE,
        validate=FLAG,
    ),
    Record(FixedLenFeature, shape=SHAPE, dtype=DTYPE, default_value=OPTIONAL_VALUE),
    Record(VarLenFeature, dtype=DTYPE),
    Record(
        FixedLenSequenceFeature,
        shape=SHAPE,
        dtype=DTYPE,
        allow_missing=FLAG,
        default_value=OPTIONAL_VALUE,
    ),
    Record(
        SparseFeature,
        index_key=AnyOf(LABEL, SequenceOf(LABEL)),
        value_key=LABEL,
        dtype=DTYPE,
        size=AnyOf(SIZE, SHAPE),
        already_sorted=FLAG,
    ),
)
FEATURES = DictOf(AnyOf(*FEATURE_RECORDS))
JPEG_OPTIONS = {
    "channels": CHANNELS,
    "ratio": Integer(1, 8),
    "fancy_upscaling": FLAG,
    "try_recover_truncated": FLAG,
    "acceptable_fraction": NUMBER,
    "dct_method": LABEL,
}
BOX_OPTIONS = {
    "min_object_covered": TENSOR_LIKE,
    "aspect_ratio_range": Optional(TENSOR_LIKE),
    "area_range": Optional(TENSOR_LIKE),
    "max_attempts": Optional(Integer(0, 1 << 20)),
    "use_image_if_no_bounding_boxes": Optional(FLAG),
}

IMAGE_OPS = (
    RawFunctionOp(
        "image.check_corner",
        "tf.image.crop_flip:check_corner",
        top=ARRAY,
        left=ARRAY,
        shape=TupleOf(SIZE, SIZE),
        rows=INTEGER,
        columns=INTEGER,
    ),
    RawFunctionOp(
        "image.crop_starts",
        "tf.image.random_augmentation:crop_starts",
        drawn=ARRAY,
        shape=SHAPE,
        sizes=SHAPE,
    ),
    CallOp(
        "image.decode_png",
        "tf.image.decode:decode_png",
        contents=TENSOR_LIKE,
        channels=CHANNELS,
        dtype=DTYPE,
    ),
    CallOp(
        "image.decode_jpeg", "tf.image.decode:decode_jpeg", contents=TENSOR_LIKE, **JPEG_OPTIONS
    ),
    CallOp(
        "image.decode_and_crop_jpeg",
        "tf.image.decode:decode_and_crop_jpeg",
        contents=TENSOR_LIKE,
        crop_window=TENSOR_LIKE,
        **JPEG_OPTIONS,
    ),
    CallOp(
        "image.decode_bmp", "tf.image.decode:decode_bmp", contents=TENSOR_LIKE, channels=CHANNELS
    ),
    CallOp("image.decode_gif", "tf.image.decode:decode_gif", contents=TENSOR_LIKE),
    CallOp(
        "image.decode",
        "tf.image.decode:decode_image",
        contents=TENSOR_LIKE,
        channels=Optional(CHANNELS),
        dtype=DTYPE,
        expand_animations=FLAG,
    ),
    CallOp(
        "image.encode_png",
        "tf.image.encode:encode_png",
        image=TENSOR_LIKE,
        compression=Integer(-1, 9),
    ),
    CallOp(
        "image.encode_jpeg",
        "tf.image.encode:encode_jpeg",
        image=TENSOR_LIKE,
        format=Choice("", "grayscale", "rgb"),
        quality=Integer(0, 100),
        progressive=FLAG,
        optimize_size=FLAG,
        chroma_downsampling=FLAG,
        density_unit=Choice("in", "cm"),
        x_density=Integer(0, 65535),
        y_density=Integer(0, 65535),
        xmp_metadata=TEXT,
    ),
    CallOp(
        "image.extract_jpeg_shape",
        "tf.image.decode:extract_jpeg_shape",
        contents=TENSOR_LIKE,
        output_type=DTYPE,
    ),
    CallOp("image.is_jpeg", "tf.image.decode:is_jpeg", contents=TENSOR_LIKE),
    CallOp(
        "image.extract_glimpse",
        "tf.image.extract_glimpse:extract_glimpse",
        input=TENSOR_LIKE,
        size=TENSOR_LIKE,
        offsets=TENSOR_LIKE,
        centered=FLAG,
        normalized=FLAG,
        noise=Choice("uniform", "gaussian", "zero"),
    ),
    CallOp(
        "image.sample_box",
        "tf.image.random_box:sample_distorted_bounding_box",
        image_size=TENSOR_LIKE,
        bounding_boxes=TENSOR_LIKE,
        seed=INTEGER,
        **BOX_OPTIONS,
    ),
    CallOp(
        "image.stateless_sample_box",
        "tf.image.random_box:stateless_sample_distorted_bounding_box",
        image_size=TENSOR_LIKE,
        bounding_boxes=TENSOR_LIKE,
        seed=TENSOR_LIKE,
        **BOX_OPTIONS,
    ),
    CallOp(
        "image.find_source_pixels",
        "tf.raw_ops.projective_transform:find_source_pixels",
        transforms=ARRAY,
        images=ARRAY,
        output_shape=ARRAY,
        interpolation=Choice("NEAREST", "BILINEAR"),
        fill_mode=Choice("CONSTANT", "NEAREST", "REFLECT", "WRAP"),
    ),
    CallOp(
        "audio.parse_wav",
        "tf.audio:parse_wav",
        contents=ARRAY,
        channels=Integer(-1, 1 << 16),
        samples=Integer(-1, 1 << 40),
    ),
    CallOp("audio.serialize_wav", "tf.audio:serialize_wav", audio=ARRAY, rate=ARRAY),
)

SERIALIZATION_OPS = (
    CallOp(
        "io.decode_csv",
        "tf.io.csv:decode_csv",
        records=TENSOR_LIKE,
        record_defaults=SequenceOf(TENSOR_LIKE),
        field_delim=LABEL,
        use_quote_delim=FLAG,
        na_value=TEXT,
        select_cols=Optional(SequenceOf(SIZE)),
    ),
    CallOp(
        "io.parse_single_example",
        "tf.io.parse_example:parse_single_example",
        serialized=TENSOR_LIKE,
        features=FEATURES,
        example_names=OPTIONAL_VALUE,
    ),
    CallOp(
        "io.parse_example",
        "tf.io.parse_example:parse_example",
        serialized=TENSOR_LIKE,
        features=FEATURES,
        example_names=OPTIONAL_VALUE,
    ),
    CallOp(
        "io.parse_single_sequence_example",
        "tf.io.parse_sequence_example:parse_single_sequence_example",
        serialized=TENSOR_LIKE,
        context_features=Optional(FEATURES),
        sequence_features=Optional(FEATURES),
        example_name=OPTIONAL_VALUE,
    ),
    CallOp(
        "io.parse_sequence_example",
        "tf.io.parse_sequence_example:parse_sequence_example",
        serialized=TENSOR_LIKE,
        context_features=Optional(FEATURES),
        sequence_features=Optional(FEATURES),
        example_names=OPTIONAL_VALUE,
    ),
    CallOp("io.serialize_tensor", "tf.io.serialization:serialize_tensor", tensor=TENSOR_LIKE),
    CallOp(
        "io.parse_tensor",
        "tf.io.serialization:parse_tensor",
        serialized=TENSOR_LIKE,
        out_type=DTYPE,
    ),
    CallOp(
        "io.decode_raw",
        "tf.io.serialization:decode_raw",
        input_bytes=TENSOR_LIKE,
        out_type=DTYPE,
        little_endian=FLAG,
        fixed_length=Optional(SIZE),
    ),
    CallOp("io.encode_base64", "tf.io.serialization:encode_base64", input=TENSOR_LIKE, pad=FLAG),
    CallOp("io.decode_base64", "tf.io.serialization:decode_base64", input=TENSOR_LIKE),
    CallOp(
        "io.decode_compressed",
        "tf.io.serialization:decode_compressed",
        bytes=TENSOR_LIKE,
        compression_type=Choice("", "ZLIB", "GZIP"),
    ),
    CallOp(
        "io.decode_json_example",
        "tf.io.serialization:decode_json_example",
        json_examples=TENSOR_LIKE,
    ),
)

FILE_FORMAT_OPS: tuple[HostOp, ...] = IMAGE_OPS + SERIALIZATION_OPS
