"""Actor-critic for balancing a pole; `tf.numpy_function` steps the environment.

python -m gradtape examples/actor_critic.py
"""

import collections

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.backend.set_floatx("float64")  # so that rounding does not change the sampled actions
tf.keras.utils.set_random_seed(42)
EPS = np.finfo(np.float32).eps.item()


class Pole:
    """An inverted pendulum on a cart, pushed to the left or to the right (Barto et al., 1983)."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, 4)
        return self.state

    def step(self, action):
        _, speed, angle, turn = self.state
        force = 10.0 if action == 1 else -10.0
        sine, cosine = np.sin(angle), np.cos(angle)
        push = (force + 0.05 * turn**2 * sine) / 1.1
        bend = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        slide = push - 0.05 * bend * cosine / 1.1
        change = np.array([speed, slide, turn, bend])
        self.state = self.state + 0.02 * change
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21
        return self.state, 1.0, fallen


env = Pole(seed=0)


class ActorCritic(tf.keras.Model):
    """One hidden layer, shared by the policy and the value."""

    def __init__(self, num_actions, num_hidden_units):
        super().__init__()
        self.common = layers.Dense(num_hidden_units, activation="relu")
        self.actor = layers.Dense(num_actions)
        self.critic = layers.Dense(1)

    def call(self, inputs):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


model = ActorCritic(num_actions=2, num_hidden_units=32)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
huber_loss = tf.keras.losses.Huber(reduction="sum")


def env_step(action):
    state, reward, done = env.step(action)
    return state, np.array(reward, np.int32), np.array(done, np.int32)


def tf_env_step(action):
    return tf.numpy_function(env_step, [action], [tf.float64, tf.int32, tf.int32])


def run_episode(initial_state, max_steps):
    action_probs = tf.TensorArray(dtype=tf.float64, size=0, dynamic_size=True)
    values = tf.TensorArray(dtype=tf.float64, size=0, dynamic_size=True)
    rewards = tf.TensorArray(dtype=tf.int32, size=0, dynamic_size=True)
    initial_state_shape = initial_state.shape
    state = initial_state

    for t in tf.range(max_steps):
        state = tf.expand_dims(state, 0)
        action_logits_t, value = model(state)
        action = tf.random.categorical(action_logits_t, 1, seed=13)[0, 0]
        action_probs_t = tf.nn.softmax(action_logits_t)
        values = values.write(t, tf.squeeze(value))
        action_probs = action_probs.write(t, action_probs_t[0, action])
        state, reward, done = tf_env_step(action)
        state.set_shape(initial_state_shape)
        rewards = rewards.write(t, reward)
        if tf.cast(done, tf.bool):
            break

    return action_probs.stack(), values.stack(), rewards.stack()


def get_expected_return(rewards, gamma, standardize=True):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float64, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float64)
    discounted_sum = tf.constant(0.0, tf.float64)
    discounted_sum_shape = discounted_sum.shape
    for i in tf.range(n):
        reward = rewards[i]
        discounted_sum = reward + gamma * discounted_sum
        discounted_sum.set_shape(discounted_sum_shape)
        returns = returns.write(i, discounted_sum)
    returns = returns.stack()[::-1]
    if standardize:
        returns = (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + EPS)
    return returns


def compute_loss(action_probs, values, returns):
    advantage = returns - values
    actor_loss = -tf.math.reduce_sum(tf.math.log(action_probs) * advantage)
    return actor_loss + huber_loss(values, returns)


@tf.function
def train_step(initial_state, gamma, max_steps_per_episode):
    with tf.GradientTape() as tape:
        action_probs, values, rewards = run_episode(initial_state, max_steps_per_episode)
        returns = get_expected_return(rewards, gamma)
        action_probs, values, returns = [
            tf.expand_dims(x, 1) for x in [action_probs, values, returns]
        ]
        loss = compute_loss(action_probs, values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return tf.math.reduce_sum(rewards), loss


recent = collections.deque(maxlen=6)
for episode in range(1, 25):
    reward, loss = train_step(tf.constant(env.reset()), 0.99, 50)
    recent.append(int(reward))
    if episode % 6 == 0:
        print(
            f"episode {episode}: reward {int(reward)}, mean {np.mean(recent):.2f}, loss {loss:.3f}"
        )
