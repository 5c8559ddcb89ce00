"""KerasHub: a small BERT backbone, trained for two steps."""

import keras
import keras_hub
import numpy as np

keras.utils.set_random_seed(4)
backbone = keras_hub.models.BertBackbone(
    vocabulary_size=50, num_layers=2, num_heads=2, hidden_dim=8, intermediate_dim=16, dropout=0.0
)
data = {
    "token_ids": np.arange(12).reshape(2, 6) % 50,
    "segment_ids": np.zeros((2, 6), int),
    "padding_mask": np.array([[1, 1, 1, 1, 0, 0], [1] * 6]),
}
print("outputs", backbone(data)["pooled_output"].numpy().ravel().tolist())
head = keras.layers.Dense(1)(backbone.output["pooled_output"])
model = keras.Model(backbone.input, head)
model.compile(keras.optimizers.Adam(0.01), "mse")
print("losses", [float(model.train_on_batch(data, np.ones((2, 1)))) for _ in range(3)])
