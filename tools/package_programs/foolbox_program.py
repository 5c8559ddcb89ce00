"""An adversarial attack on a Keras model."""

import foolbox as fb
import keras
import tensorflow as tf

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
fmodel = fb.TensorFlowModel(model, bounds=(0, 1))
x = tf.constant([[0.1, 0.5, 0.9, 0.3], [0.6, 0.2, 0.4, 0.8]])
labels = tf.argmax(model(x), -1)
_, clipped, success = fb.attacks.LinfPGD(steps=5, random_start=False)(
    fmodel, x, labels, epsilons=0.3
)
print(clipped.numpy().round(4), success.numpy())
