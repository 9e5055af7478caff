"""The operator's wish to end, as a descriptor."""

import select
import signal
import threading

from proctor.host.cancel import Cancel


def readable(cancel: Cancel, wait_ms: int = 0) -> bool:
    poller = select.poll()
    poller.register(cancel, select.POLLIN)
    return bool(poller.poll(wait_ms))


def test_not_readable_until_it_is_set():
    """A flag that nobody has set is neither set nor readable."""
    cancel = Cancel()

    assert (False, False) == (cancel.is_set, readable(cancel))


def test_readable_for_every_waiter_and_for_ever_once_it_is_set():
    """One call of `set` wakes every waiter, and all who come later."""
    cancel = Cancel()
    woken: list[bool] = []
    waiters = [threading.Thread(target=lambda: woken.append(readable(cancel, 5000))) for _ in range(3)]
    for waiter in waiters:
        waiter.start()
    cancel.set()
    cancel.set()
    for waiter in waiters:
        waiter.join()

    assert ([True] * 3, True, True) == (woken, readable(cancel), cancel.is_set)


def test_may_be_set_by_a_signal_handler():
    """A handler that sets the flag wakes the poll that the signal interrupted."""
    cancel = Cancel()
    before = signal.signal(signal.SIGALRM, lambda *_: cancel.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        woken = readable(cancel, 5000)
    finally:
        signal.signal(signal.SIGALRM, before)

    assert (True, True) == (woken, cancel.is_set)


def test_close_may_be_called_twice_and_set_after_it():
    """After `close` the flag holds no descriptor, and setting it harms nobody."""
    cancel = Cancel()
    cancel.close()
    cancel.close()
    cancel.set()

    assert -1 == cancel.fileno()
