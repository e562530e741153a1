"""Signals that wait until what they would leave half done is done."""

import signal
import subprocess
import sys
import threading

import pytest

from tvgnn.training.interrupts import waiting_interrupts

LOADED_BY_A_FIT = """
import signal, sys
import numpy as np
from tvgnn import TVClustering

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "torch._dynamo.utils":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

assert "torch._dynamo" not in sys.modules
sys.meta_path.insert(0, Interrupting())
try:
    TVClustering(2, preset="quality", n_init=1).fit(np.random.default_rng(0).random((30, 3)))
except KeyboardInterrupt:
    print("whole" if hasattr(sys.modules["torch._dynamo"], "optimize") else "in part")
"""


def interrupted_inside(reached):
    with waiting_interrupts():
        signal.raise_signal(signal.SIGINT)
        reached.append("end")


def failing_inside(before):
    with waiting_interrupts():
        assert signal.getsignal(signal.SIGTERM) is not before
        raise KeyError


def test_a_signal_waits_for_the_end():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_inside(reached)
    assert reached == ["end"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_come_back_after_an_error():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyError):
        failing_inside(before)
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_threads_have_no_signals_to_hold():
    inside = []

    def enter():
        with waiting_interrupts():
            inside.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert inside == [signal.getsignal(signal.SIGINT)]


def test_an_interruption_does_not_tear_the_import_of_the_compiler():
    """An exception inside its C++ parts would end the process with SIGABRT and leave what a run had begun to write."""
    run = subprocess.run([sys.executable, "-c", LOADED_BY_A_FIT], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "whole"), run.stderr
