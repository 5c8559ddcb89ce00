"""A lock is free again after any exception, an interrupt's included."""

import random
import signal
import threading

import pytest

from gradtape.core.lock import Lock


def is_free(lock):
    """Whether another thread gets the lock."""
    taken = []
    thread = threading.Thread(target=lambda: taken.append(lock.acquire(blocking=False)))
    thread.start()
    thread.join()
    return taken == [True]


def test_a_thread_may_take_it_twice():
    lock = Lock()
    with lock, lock:
        assert not is_free(lock)
    assert is_free(lock)


def test_an_exception_in_the_block_releases_it():
    lock = Lock()
    with pytest.raises(KeyError), lock:
        raise KeyError
    assert is_free(lock)


def test_no_interrupt_leaves_it_locked():
    chance, interrupts = random.Random(0), 0
    lock = Lock()

    def ring(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        while interrupts < 3000:
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 3e-5))
                while True:
                    with lock:
                        pass
            except KeyboardInterrupt:
                interrupts += 1
            assert not lock._is_owned()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
