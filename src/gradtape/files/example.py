"""tf.train.Example and its parts as protocol buffers."""

from __future__ import annotations

from gradtape.files.protobuf import make_message_classes

(
    BytesList,
    FloatList,
    Int64List,
    Feature,
    Features,
    FeatureList,
    FeatureLists,
    Example,
    SequenceExample,
) = make_message_classes(
    "gradtape/example.proto",
    {
        "BytesList": "value:1:bytes*",
        "FloatList": "value:1:float*",
        "Int64List": "value:1:int64*",
        "Feature": (
            "kind/bytes_list:1:BytesList kind/float_list:2:FloatList kind/int64_list:3:Int64List"
        ),
        "Features": "feature:1:<Feature>",
        "FeatureList": "feature:1:Feature*",
        "FeatureLists": "feature_list:1:<FeatureList>",
        "Example": "features:1:Features",
        "SequenceExample": "context:1:Features feature_lists:2:FeatureLists",
    },
    __name__,
)
