from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clips import clip, f_measure
from trueaxis._typing import Array
from trueaxis.video import Window, separate
from trueaxis.video._contours import clearest
from trueaxis.video._low_rank import LowRank, affine_axes
from trueaxis.video._mask import evidence, foreground

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
OFFICE = DATA / "cdnet_office" / "cdnet_office_gray_120x180_every8.npz"


def parts(frames: Array, **options: int) -> tuple[Array, Array]:
    windows = list(separate(frames, **options))
    return (
        np.concatenate([w.background for w in windows]),
        np.concatenate([w.mask for w in windows]),
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("still", [0.0, 0.7, 0.85])
def test_somebody_who_stands_still_is_no_background(seed: int, still: float) -> None:
    truth = clip(seed, still=still)
    background, mask = parts(truth.frames)
    assert f_measure(mask, truth.mask) > 0.85
    # Where the person stood, and a median would show them.
    error = np.abs(background - truth.background)
    assert np.median(error[truth.mask]) < 3.0
    assert (error > 20.0).mean() < 0.02


@pytest.mark.parametrize("change", ["drift", "switch", "corner"])
def test_light_that_changes_is_background(change: str) -> None:
    t = np.arange(80)[:, None, None]
    y, x = np.mgrid[:60, :90]
    lamp = 0.4 * np.exp(-((y - 20.0) ** 2 + (x - 20.0) ** 2) / 800.0)
    light = {
        "drift": 1.0 - 0.2 * np.sin(t / 12.0) ** 2,
        "switch": np.where(t < 30, 1.0, 0.7),
        "corner": 1.0 + lamp * (t > 40),
    }[change]
    truth = clip(1, light=light)
    background, mask = parts(truth.frames)
    assert f_measure(mask, truth.mask) > 0.8
    assert np.median(np.abs(background - truth.background)) < 2.0


def test_ripples_are_noise_and_a_person_before_them_is_not() -> None:
    truth = clip(2, waves=12.0)
    _, mask = parts(truth.frames)
    assert f_measure(mask, truth.mask) > 0.8
    assert mask[0].mean() < 0.01  # nobody is there yet


def test_an_empty_scene_has_no_foreground() -> None:
    rng = np.random.default_rng(0)
    frames = (clip(3).background + rng.normal(0, 3, (80, 60, 90))).clip(0, 255).astype(np.uint8)
    _, mask = parts(frames)
    assert mask.mean() < 1e-3


def test_colors_agree_with_gray_where_they_are_gray_and_see_what_gray_does_not() -> None:
    truth = clip(4)
    _, gray = parts(truth.frames)
    color = np.repeat(truth.frames[..., None], 3, axis=-1)
    background, mask = parts(color)
    assert background.shape == color.shape
    assert f_measure(mask, gray) > 0.95
    # A square as bright as the wall, but red.
    rng = np.random.default_rng(0)
    wall = rng.normal(100, 2, (40, 48, 64, 3)).clip(0, 255)
    for t in range(40):
        wall[t, 10:22, t : t + 12] += [40.0, -20.0, -20.0]
    _, mask = parts(wall.astype(np.uint8))
    assert mask[20, 12:20, 22:30].all()


@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.float64, np.int64])
def test_what_numbers_are_stored_as_does_not_matter(dtype: type) -> None:
    truth = clip(5, n=40)
    background, mask = parts(truth.frames)
    own, same = parts(truth.frames.astype(dtype))
    assert own.dtype == dtype
    np.testing.assert_array_equal(same, mask)
    np.testing.assert_allclose(own, background, atol=0.5001)


def test_a_share_of_white_is_a_gray_level() -> None:
    truth = clip(5, n=40)
    truth.frames[0, 0, 0] = 255
    _, mask = parts(truth.frames)
    _, same = parts(truth.frames / 255.0)
    assert (same == mask).mean() > 0.9999


def test_parts_add_up() -> None:
    truth = clip(6, n=40)
    (window,) = separate(truth.frames)
    inside = window.mask
    np.testing.assert_array_equal(window.foreground[inside], truth.frames[inside])
    assert (window.foreground[~inside] == 0).all()
    whole = window.sparse + window.background
    np.testing.assert_array_equal(whole[inside], truth.frames[inside])
    assert (window.sparse[~inside] == 0).all()


@given(n=st.integers(3, 30), window=st.integers(3, 40))
@settings(max_examples=15, deadline=None)
def test_windows_are_the_video_in_order(n: int, window: int) -> None:
    frames = clip(7, n=30, shape=(24, 36)).frames[:n]
    windows = list(separate(iter(frames), window=window))
    assert [w.start for w in windows] == list(range(0, n, window))
    np.testing.assert_array_equal(np.concatenate([w.frames for w in windows]), frames)
    assert all(w.mask.shape == w.frames.shape == w.background.shape for w in windows)
    if window >= n:  # one window: the stream is the whole
        (whole,) = separate(frames, window=n)
        np.testing.assert_array_equal(whole.mask, windows[0].mask)
        np.testing.assert_array_equal(whole.background, windows[0].background)


def test_a_window_remembers_the_background_before_it() -> None:
    """Somebody stands through all of the second window, which alone would take them for scenery."""
    truth = clip(8, n=120, still=0.75)
    _, mask = parts(truth.frames, window=45)
    second = slice(45, 90)
    assert f_measure(mask[second], truth.mask[second]) > 0.8
    (alone,) = separate(truth.frames[second])
    assert f_measure(alone.mask, truth.mask[second]) < 0.5


def test_memory_is_that_of_a_window() -> None:
    """Ten times the frames take no more, and are never held together."""

    def endless(n: int) -> Iterator[Array]:
        rng = np.random.default_rng(0)
        for _ in range(n):
            yield rng.integers(90, 110, (30, 40), dtype=np.uint8)

    def peak(n: int) -> int:
        tracemalloc.start()
        for window in separate(endless(n), window=20):
            assert isinstance(window, Window)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(160) < 1.2 * peak(40)


def test_the_same_video_gives_the_same_bits() -> None:
    frames = clip(9, n=30).frames
    for one, other in zip(separate(frames), separate(frames), strict=True):
        np.testing.assert_array_equal(one.background, other.background)
        np.testing.assert_array_equal(one.mask, other.mask)


def test_progress_counts_all_frames() -> None:
    told: list[tuple[int, int | None]] = []
    frames = clip(9, n=30, shape=(24, 36)).frames
    list(separate(frames, window=10, progress=lambda n, of: told.append((n, of))))
    assert told[-1] == (30, 30)
    assert told == sorted(told)


@pytest.mark.parametrize("window", [0, 2, -1, 2.5, True, "many"])
def test_a_window_is_a_number_of_frames(window: object) -> None:
    with pytest.raises(ValueError, match="window="):
        separate(np.zeros((5, 4, 4)), window=window)  # type: ignore[arg-type]


def test_the_outline_tells_who_is_in_front() -> None:
    """Of two frames, one with an object: the index is that of the other, wherever they differ."""
    wall = np.tile(np.linspace(80.0, 120.0, 40), (30, 1))
    object_ = wall.copy()
    object_[8:22, 12:24] = 200.0
    noise = np.ones((30, 40))
    for images, clear in (([wall, object_, object_], 0), ([object_, object_, object_, wall], 3)):
        winner = clearest(np.array(images), noise)
        # The rarer value wins by its outline alone.
        assert (winner[10:20, 14:22] == clear).all()


def test_evidence_is_even_and_grows_with_the_residual() -> None:
    r = np.linspace(-60, 60, 241)[:, None]
    u = evidence(r, np.full((1, 1), 2.0))
    np.testing.assert_allclose(u, u[::-1])
    assert (np.diff(u[120:, 0]) >= 0).all()
    assert u[120, 0] < 0 < u[-1, 0]


@given(
    top=st.integers(2, 10), left=st.integers(2, 10), height=st.integers(6, 12),
    width=st.integers(6, 12),
)  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_a_mask_is_the_object_without_specks_and_holes(
    top: int, left: int, height: int, width: int
) -> None:
    u = np.full((40, 40), -4.0)
    u[top : top + height, left : left + width] = 4.0
    truth = u > 0
    u[top + 3, left + 3] = -4.0
    u[35, 35] = 4.0
    mask = foreground(u, np.where(u > 0, 50.0, 1.0))
    assert mask[top + 3, left + 3]
    assert not mask[35, 35]
    assert f_measure(mask, truth) > 0.9


def test_what_fades_is_light_and_what_ends_is_an_object() -> None:
    y, x = np.mgrid[:60, :60]
    glow = 60.0 * np.exp(-((y - 30.0) ** 2 + (x - 30.0) ** 2) / 400.0)
    disk = np.where((y - 30) ** 2 + (x - 30) ** 2 < 200, 60.0, 0.0)
    noise = np.full((60, 60), 2.0)
    assert not foreground(evidence(glow, noise), glow).any()
    assert foreground(evidence(disk, noise), disk).sum() > 500


def test_axes_of_light_are_gain_and_offset() -> None:
    """A picture of another gain and offset is of the model, with no residual."""
    center = np.linspace(20, 200, 300).astype(np.float32)
    model = LowRank(center, affine_axes(center), np.ones(300, np.float32))
    P = np.column_stack([0.8 * center + 5.0, 1.1 * center - 7.0]).astype(np.float32)
    assert np.abs(model.residual(P, model.coordinates(P))).max() < 0.1


@pytest.mark.skipif(not OFFICE.exists(), reason="needs cdnet_office in ../shared/data")
def test_office() -> None:
    held = np.load(OFFICE)
    (window,) = separate(OFFICE, array="frames")
    scored = (held["gt"] == 0) | (held["gt"] == 50) | (held["gt"] == 255)
    assert f_measure(window.mask, held["gt"] == 255, scored) >= 0.55
