"""The arithmetic: samples, windows and credits, with numbers that can be checked by hand."""

from __future__ import annotations

import pytest

from kafkastub.security.quota_rates import LONGEST_MS, Rate, TokenBucket, Windows, rounded

DEFAULT = Windows(11, 1000)
"""Kafka's: ten whole windows of a second, and the one under way."""


def test_the_first_use_counts_as_if_all_windows_had_passed():
    rate = Rate(DEFAULT)
    rate.record(20_000, 5000)
    assert rate.over(1000, 5000) == 10_000  # 2000 a second in 10 s; at 1000 a second they take 20 s
    assert rate.over(1000, 5400) == 9_600


def test_what_is_within_the_quota_does_not_wait():
    rate = Rate(DEFAULT)
    rate.record(10_000, 0)
    assert rate.over(1000, 0) == 0
    rate.record(1, 0)
    assert rate.over(1000, 0) == 1


def test_a_new_sample_begins_when_one_is_a_window_old():
    rate = Rate(DEFAULT)
    rate.record(10_000, 0)
    rate.record(10_000, 1000)
    assert rate.over(1000, 1000) == 10_000
    rate.record(5_000, 2500)
    assert rate.over(1000, 2500) == 14_500  # 25,000 in 10.5 s: two whole windows of ten, half of the third


def test_all_windows_full_the_time_that_they_cover_grows_until_the_first_is_forgotten():
    rate = Rate(DEFAULT)
    for second in range(11):
        rate.record(1500, second * 1000)
    assert rate.over(1000, 10_000) == 6_500  # 16,500 in 10 s
    assert rate.over(1000, 10_900) == 5_600  # in 10.9 s
    assert rate.over(1000, 11_000) == 5_000  # the first is gone: 15,000 in 10 s


def test_samples_are_recycled():
    rate = Rate(Windows(2, 1000))
    for second in range(100):
        rate.record(1000, second * 1000)
    assert len(rate._samples) == 3
    assert rate.over(1000, 99_000) == 1000  # the last two seconds: 2000 in 1 s


def test_idle_samples_count_as_begun_now():
    rate = Rate(DEFAULT)
    rate.record(1_000_000, 0)
    assert rate.over(1000, 10_999) > 0
    assert rate.over(1000, 11_000) == 0
    rate.record(10_001, 50_000)
    assert rate.over(1000, 50_000) == 1


def test_what_is_taken_back_was_not_used():
    rate = Rate(DEFAULT)
    rate.record(5000, 0)
    rate.record(20_000, 0)
    rate.record(-20_000, 0)
    assert rate.over(1000, 0) == 0


def test_one_window_alone():
    rate = Rate(Windows(1, 1000))
    rate.record(10, 0)
    assert rate.over(1000, 0) == 9  # 10 in the shortest time there is, a millisecond


@pytest.mark.parametrize(
    ("bound", "wait"), [(float("nan"), 0), (float("inf"), 0), (1e-7, LONGEST_MS), (0.0, LONGEST_MS)]
)
def test_quotas_that_are_hardly_numbers(bound: float, wait: int):
    rate = Rate(DEFAULT)
    rate.record(1000, 0)
    assert rate.over(bound, 0) == wait


def test_rounding_is_javas():
    assert [rounded(ms) for ms in (0.49, 0.5, 1.5, 2.5, 1e300)] == [0, 1, 2, 3, LONGEST_MS]


def test_a_bucket_begins_full_and_may_be_overdrawn_once():
    bucket = TokenBucket(DEFAULT)
    assert bucket.over(2, 0) == 0
    bucket.record(30, 2, 0)  # of 22
    assert bucket.over(2, 0) == 4000
    assert bucket.over(2, 3999) == 1
    assert bucket.over(2, 4000) == 0


def test_a_bucket_holds_no_more_than_all_windows_allow():
    bucket = TokenBucket(DEFAULT)
    bucket.record(22, 2, 0)
    bucket.record(23, 2, 1_000_000)
    assert bucket.over(2, 1_000_000) == 500


def test_a_bucket_under_another_quota_keeps_its_credits():
    bucket = TokenBucket(DEFAULT)
    bucket.record(20, 1, 0)
    assert bucket.over(1, 0) == 9000
    assert bucket.over(9, 0) == 1000
    bucket.record(0, 9, 2000)
    assert bucket.over(1, 2000) == 0
