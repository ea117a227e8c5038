"""What has to happen when a process is forked, and before a process made by multiprocessing ends.

Objects are held weakly: nothing here keeps alive what its owner let go.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable
from typing import Final
from weakref import ref

from pixie_otel.diagnostics import internal_error

__all__ = ["before_exit_of_child", "ends_with_its_threads", "in_child"]

_numbers: Final = itertools.count()
_forking: Final = threading.local()


class _WeakMethod:
    """A bound method whose object may go.

    Unlike `weakref.WeakMethod`, it has nothing to complain of when the object goes with the interpreter.
    """

    def __init__(self, method: Callable[[], object]) -> None:
        self._name = method.__name__
        self.target: ref[object] = ref(getattr(method, "__self__"))  # noqa: B009 - a callable need not have one

    def __call__(self) -> None:
        target = self.target()
        if target is not None:
            getattr(target, self._name)()


_methods: Final[dict[int, _WeakMethod]] = {}


def in_child(method: Callable[[], object]) -> None:
    """Call a bound method in every child that is forked from now on, as long as its object lives.

    In the child no lock of the parent's may be used: the thread that holds it does not exist there.
    """
    _methods[next(_numbers)] = _WeakMethod(method)
    for number, known in list(_methods.items()):
        if known.target() is None:
            _methods.pop(number, None)


def before_exit_of_child(method: Callable[[], object]) -> None:
    """Call a bound method before this process ends, where multiprocessing made it.

    Such a process may end by `os._exit`, which skips what `atexit` was given. It is called twice, before and after
    the finalizers of the application, which may end spans too.
    """
    # Where multiprocessing made this process, both were imported.
    process = sys.modules.get("multiprocessing.process")
    if process is None or "multiprocessing.util" not in sys.modules or process.parent_process() is None:
        return
    from multiprocessing.util import Finalize

    for priority in (100, -100):
        Finalize(None, _WeakMethod(method), exitpriority=priority)


def ends_with_its_threads() -> bool:
    """Say, in a child, whether a thread other than the main one forked it.

    The system knows no main thread in such a process: it lives until its last thread has ended, daemons included.
    """
    return getattr(_forking, "beside_main", False)


def _before_fork() -> None:
    _forking.beside_main = threading.get_ident() != threading.main_thread().ident


def _after_fork() -> None:
    for method in list(_methods.values()):
        try:
            method()
        except Exception as error:  # noqa: BLE001 - the child is the application's, and it goes on
            internal_error("starting afresh after a fork", error)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
