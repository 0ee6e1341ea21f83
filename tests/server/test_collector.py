"""What is spared by the garbage collector, and when it is not any more."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def printed(code: str) -> list[str]:
    """By a process of its own: the collector is a process's."""
    begin = "import gc, weakref\nfrom kafkastub.server import collector\n\n\nclass Ring:\n    pass\n\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_what_has_lived_long_is_not_looked_at_again():
    said = printed(
        """
        collector.spare_large_states(lambda work: None)
        before = gc.get_freeze_count()
        kept = []
        for _ in range(400_000):
            kept.append([kept] * 50)
        print(gc.get_freeze_count() - before > 200_000, len(gc.get_objects()) < 200_000)
        """
    )
    assert said == ["True", "True"]


def test_what_a_large_request_leaves_is_not_looked_at():
    """A look at 300,000 objects took 0.1 s, in which nobody was served."""
    said = printed(
        """
        collector.spare_large_states(lambda work: None)
        collector.rest()
        looks = []
        gc.callbacks.append(lambda phase, info: looks.append(phase))
        kept = [[] for _ in range(300_000)]
        collector.resume()
        print(gc.isenabled(), gc.get_freeze_count() > 300_000, gc.get_count()[0] < 20_000, looks)
        """
    )
    assert said == ["True", "True", "True", "[]"]


def test_what_a_small_request_leaves_is_looked_at_by_and_by():
    said = printed(
        """
        collector.spare_large_states(lambda work: None)
        before = gc.get_freeze_count()
        collector.rest()
        kept = [[] for _ in range(1_000)]
        collector.resume()
        print(gc.isenabled(), gc.get_freeze_count() - before)
        """
    )
    assert said == ["True", "0"]


def test_what_was_spared_and_is_garbage_by_now_is_found_at_last():
    said = printed(
        """
        later = []
        collector.spare_large_states(later.append, most=3)
        gone, kept = [], []
        for _ in range(3):
            ring = Ring()
            ring.itself = ring
            gone.append(weakref.ref(ring))
            collector.rest()
            kept.append([[] for _ in range(60_000)])
            collector.resume()
            ring = None
        print(sum(one() is not None for one in gone), len(later))
        later.pop()()
        print(sum(one() is not None for one in gone))
        """
    )
    assert said == ["3", "1", "0"]
