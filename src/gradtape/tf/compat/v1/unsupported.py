"""Names of TensorFlow 1 that gradtape does not have, each with its replacement."""

from __future__ import annotations

USE_CALLS = "ops run when they are called; call a function, or a tf.function, instead of a session."
USE_FUNCTION = "there is no graph to build; @tf.function compiles a Python function."
USE_OBJECTS = (
    "variables live in Python objects: tf.Variable, tf.Module or a Keras model holds them."
)
USE_OPTIMIZER = "take the gradient with tf.GradientTape and apply it with tf.keras.optimizers.{}."
USE_LAYERS = "use the layer of tf.keras.layers."
USE_DATASET = "read data with tf.data.Dataset."


def map_names(names: str, instead: str) -> dict[str, str]:
    """Map each of several names to the same replacement text."""
    return dict.fromkeys(names.split(), instead)


REPLACEMENTS = {
    **map_names(
        """
        Session InteractiveSession get_default_session ConfigProto GPUOptions RunOptions RunMetadata
        train.MonitoredTrainingSession train.MonitoredSession train.Supervisor train.Scaffold
        train.SessionRunHook train.LoggingTensorHook train.StopAtStepHook train.NanTensorHook
        """,
        USE_CALLS,
    ),
    **map_names(
        """
        Graph GraphDef get_default_graph reset_default_graph MetaGraphDef import_graph_def
        disable_v2_behavior disable_eager_execution disable_control_flow_v2 add_to_collection
        get_collection GraphKeys wrap_function
        """,
        USE_FUNCTION,
    ),
    **map_names(
        "placeholder placeholder_with_default sparse_placeholder",
        "make it a parameter of a Python function, or of a tf.function, and pass the value.",
    ),
    **map_names(
        """
        get_variable make_template
        get_local_variable
        """,
        "make a tf.Variable and keep it, in a tf.Module or a Keras layer.",
    ),
    **map_names(
        """
        global_variables local_variables trainable_variables model_variables all_variables
        """,
        USE_OBJECTS,
    ),
    **{
        f"train.{old}Optimizer": USE_OPTIMIZER.format(new)
        for old, new in {
            "GradientDescent": "SGD",
            "Momentum": "SGD(momentum=...)",
            "Adam": "Adam",
            "Adagrad": "Adagrad",
            "Adadelta": "Adadelta",
            "RMSProp": "RMSprop",
            "Ftrl": "Ftrl",
        }.items()
    },
    "train.Optimizer": USE_OPTIMIZER.format("Optimizer"),
    "train.Saver": "save with tf.train.Checkpoint.",
    "train.NewCheckpointReader": "use tf.train.load_checkpoint.",
    **map_names(
        """
        FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue QueueBase TFRecordReader
        TextLineReader WholeFileReader IdentityReader train.batch train.shuffle_batch
        train.start_queue_runners train.QueueRunner train.string_input_producer
        """,
        USE_DATASET,
    ),
    **map_names(
        """
        nn.dynamic_rnn nn.static_rnn nn.bidirectional_dynamic_rnn nn.raw_rnn nn.rnn_cell
        """,
        "use tf.keras.layers.RNN, LSTM or GRU.",
    ),
    "layers": USE_LAYERS,
    **dict.fromkeys(
        ["contrib", "estimator", "slim"], "it left TensorFlow; Keras has its successors."
    ),
    **dict.fromkeys(["app", "flags"], "use argparse, or the package absl-py, where it came from."),
    **map_names(
        """
        summary.FileWriter summary.merge_all summary.merge summary.FileWriterCache
        """,
        "use tf.summary.create_file_writer.",
    ),
    "Print": "use tf.print.",
    "colocate_with": "use tf.device.",
}
