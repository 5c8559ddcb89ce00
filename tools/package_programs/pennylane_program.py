"""The gradient of a quantum circuit."""

import pennylane as qml
import tensorflow as tf

dev = qml.device("default.qubit", wires=2)


@qml.qnode(dev, interface="tf")
def circuit(x):
    qml.RX(x[0], wires=0)
    qml.RY(x[1], wires=1)
    qml.CNOT([0, 1])
    return qml.expval(qml.PauliZ(1))


x = tf.Variable([0.3, 0.5], dtype=tf.float64)
with tf.GradientTape() as tape:
    y = circuit(x)
print(round(float(y), 6), tape.gradient(y, x).numpy().round(6))
