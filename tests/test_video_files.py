from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from clips import clip
from trueaxis._typing import Array
from trueaxis.video import FrameError, _arrays, _images, open_frames, write_separated
from trueaxis.video._sheet import Sheet

FRAMES = clip(0, n=12, shape=(24, 36)).frames
COLOR = np.stack([FRAMES, FRAMES // 2, 255 - FRAMES], axis=-1)


@pytest.fixture(params=["gray", "color"])
def frames(request: pytest.FixtureRequest) -> Array:
    return FRAMES if request.param == "gray" else COLOR


def save_images(folder: Path, frames: Array, suffix: str = ".png") -> Path:
    folder.mkdir()
    for index, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / f"frame{index}{suffix}")
    return folder


def read(source: object, **options: str) -> Array:
    return np.stack(list(open_frames(source, **options)))


def test_a_folder_of_images_is_read_in_the_order_of_its_numbers(
    tmp_path: Path, frames: Array
) -> None:
    folder = save_images(tmp_path / "images", frames)
    (folder / "readme.txt").write_text("no image")
    (folder / ".hidden.png").write_text("no image either")
    opened = open_frames(folder)
    assert opened.length == len(frames)
    assert opened.names[9:] == ("frame9.png", "frame10.png", "frame11.png")
    np.testing.assert_array_equal(read(folder), frames)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_stacks_are_read(tmp_path: Path, frames: Array, compressed: bool, order: str) -> None:
    stack = np.asarray(frames, order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "a.npy", stack)
    save = np.savez_compressed if compressed else np.savez
    save(tmp_path / "a.npz", other=np.zeros(3), stack=stack)
    save(tmp_path / "b.npz", frames=stack, gt=stack)
    for name in ("a.npy", "a.npz", "b.npz"):
        np.testing.assert_array_equal(read(tmp_path / name), frames)
    np.testing.assert_array_equal(read(tmp_path / "b.npz", array="gt"), frames)


@given(
    stack=hnp.arrays(
        st.sampled_from([np.uint8, np.uint16, np.float32, np.bool_]),
        hnp.array_shapes(min_dims=3, max_dims=3, min_side=1, max_side=5),
    )
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stack_that_grew_is_what_numpy_reads(tmp_path: Path, stack: Array) -> None:
    path = tmp_path / "grown.npy"
    writer = _arrays.Writer(path)
    for frame in stack:
        writer.write(frame[None])
    writer.close()
    np.testing.assert_array_equal(np.load(path), stack)
    assert np.load(path).dtype == stack.dtype


def test_pages_are_frames(tmp_path: Path) -> None:
    pages = [Image.fromarray(frame) for frame in FRAMES]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    np.testing.assert_array_equal(read(tmp_path / "a.tif"), FRAMES)


def test_a_video_file_comes_back(tmp_path: Path, frames: Array) -> None:
    from trueaxis.video import _movies

    path = tmp_path / "a.mp4"
    writer = _movies.Writer(path, 10.0)
    writer.write(frames)
    writer.close()
    opened = open_frames(path)
    assert opened.rate == 10.0
    assert opened.length == len(frames)
    back = read(path)
    assert back.shape == frames.shape
    assert np.median(np.abs(back.astype(float) - frames)) < 4.0


def test_frames_of_unequal_size_are_named(tmp_path: Path) -> None:
    folder = save_images(tmp_path / "images", FRAMES)
    Image.fromarray(FRAMES[0][:-1]).save(folder / "frame10.png")
    with pytest.raises(FrameError, match=r"frame 10 \(frame10.png\) is 23×36.* are 24×36"):
        read(folder)
    Image.fromarray(COLOR[0]).save(folder / "frame10.png")
    with pytest.raises(FrameError, match=r"frame 10 .* is 24×36 in color"):
        read(folder)


def test_damaged_frames_are_named(tmp_path: Path) -> None:
    folder = save_images(tmp_path / "images", FRAMES)
    whole = (folder / "frame7.png").read_bytes()
    for damaged in (whole[:200], b"", b"no image"):
        (folder / "frame7.png").write_bytes(damaged)
        with pytest.raises(FrameError, match=r"frame 7 \(frame7.png\) cannot be read"):
            read(folder)
    np.savez(tmp_path / "a.npz", frames=FRAMES)
    bytes_ = bytearray((tmp_path / "a.npz").read_bytes())
    bytes_[3000:3100] = bytes(100)
    (tmp_path / "a.npz").write_bytes(bytes_)
    with pytest.raises(FrameError, match="npz is damaged"):
        read(tmp_path / "a.npz")


def test_a_damaged_video_names_the_frame(tmp_path: Path) -> None:
    from trueaxis.video import _movies

    path = tmp_path / "a.mp4"
    rng = np.random.default_rng(0)
    writer = _movies.Writer(path, 10.0)
    writer.write(rng.integers(0, 255, (20, 48, 64), dtype=np.uint8))
    writer.close()
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 : len(whole) // 2 + 4000] = bytes(4000)
    path.write_bytes(whole)
    with pytest.raises(FrameError, match=r"a.mp4: frame \d+ cannot be read"):
        read(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_located(value: float) -> None:
    stack = FRAMES.astype(float)
    stack[3, 5, 7] = value
    with pytest.raises(FrameError, match=r"frame 3 has (NaN|infinity) at row 5, column 7"):
        read(stack)


def test_what_cannot_be_frames_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "text.mp4").write_text("no video")
    np.save(tmp_path / "flat.npy", np.zeros((4, 5)))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "two.npz", a=FRAMES, b=FRAMES)
    for name, told in {
        "empty": "has no images",
        "text.npz": "is no .npz file",
        "text.mp4": "cannot be read as a video",
        "flat.npy": "frames × height × width",
        "objects.npy": "is no .npy file of numbers",
        "two.npz": "say which array",
    }.items():
        with pytest.raises(ValueError, match=told):
            open_frames(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        open_frames(tmp_path / "nothing")
    with pytest.raises(TypeError, match="int"):
        open_frames(3)
    with pytest.raises(FrameError, match="has no array 'c'"):
        open_frames(tmp_path / "two.npz", array="c")
    for few in ([], FRAMES[:2]):
        with pytest.raises(FrameError, match="frames"):
            write_separated(np.array(few), tmp_path / "out")
    with pytest.raises(FrameError, match="no frames"):
        write_separated(iter(()), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_written_is_what_was_separated(tmp_path: Path, frames: Array) -> None:
    np.save(tmp_path / "a.npy", frames)
    done = write_separated(tmp_path / "a.npy", tmp_path / "out")
    assert done.files == ("contact_sheet.png", "separation.npz")
    assert done.n_frames == len(frames)
    held = np.load(done.folder / "separation.npz")
    mask = held["mask"]
    assert mask.shape == frames.shape[:3]
    assert done.share == mask.mean()
    assert held["background"].shape == frames.shape
    np.testing.assert_array_equal(held["foreground"][mask], frames[mask])
    assert os.listdir(tmp_path / "out") == sorted(os.listdir(tmp_path / "out"))


def test_each_source_has_its_own_format(tmp_path: Path) -> None:
    folder = save_images(tmp_path / "images", FRAMES)
    done = write_separated(folder, tmp_path / "out")
    assert done.files == ("background", "contact_sheet.png", "foreground", "mask")
    written = sorted(entry.name for entry in (done.folder / "mask").iterdir())
    assert written == sorted(open_frames(folder).names)
    assert set(np.unique(read(done.folder / "mask"))) <= {0, 255}
    done = write_separated(folder, tmp_path / "movie", format="video")
    assert done.files == ("background.mp4", "contact_sheet.png", "foreground.mp4", "mask.mp4")
    again = write_separated(done.folder / "background.mp4", tmp_path / "again")
    assert "background.mp4" in again.files


def test_images_of_one_stem_do_not_overwrite_one_another(tmp_path: Path) -> None:
    folder = save_images(tmp_path / "images", FRAMES)
    Image.fromarray(FRAMES[0]).save(folder / "frame0.bmp")
    done = write_separated(folder, tmp_path / "out")
    assert len(list((done.folder / "mask").iterdir())) == len(FRAMES) + 1


def test_a_result_is_replaced_only_if_asked_and_nothing_else_ever(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    write_separated(FRAMES, target)  # an empty folder is as good as none
    before = (target / "separation.npz").stat().st_ino
    with pytest.raises(ValueError, match="--force"):
        write_separated(FRAMES, target)
    assert (target / "separation.npz").stat().st_ino == before
    write_separated(FRAMES, target, force=True, format="images")
    assert not (target / "separation.npz").exists()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match=r"thesis.tex.*left alone"):
        write_separated(FRAMES, target, force=True)
    assert (target / "thesis.tex").exists()
    with pytest.raises(ValueError, match="no folder"):
        write_separated(FRAMES, tmp_path / "a" / "b")
    with pytest.raises(ValueError, match="is a file"):
        write_separated(FRAMES, target / "thesis.tex")
    with pytest.raises(ValueError, match="format"):
        write_separated(FRAMES, tmp_path / "new", format="gif")  # type: ignore[arg-type]


def test_what_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    write_separated(FRAMES, tmp_path / "out")
    before = sorted(os.listdir(tmp_path))

    def breaking() -> Iterator[Array]:
        yield from FRAMES
        raise KeyboardInterrupt

    for format in ("npz", "images", "video"):
        with pytest.raises(KeyboardInterrupt):
            write_separated(breaking(), tmp_path / "out", force=True, window=5, format=format)
    assert sorted(os.listdir(tmp_path)) == before
    assert np.load(tmp_path / "out" / "separation.npz")["mask"].shape == FRAMES.shape


def test_a_sheet_is_of_bounded_size_and_spans_the_video() -> None:
    sheet = Sheet()
    stack = np.zeros((50, 20, 30), np.uint8)
    for start in range(0, 1000, 50):
        sheet.add(start, {"frame": stack, "mask": stack})
    assert len(sheet._columns) < 50
    assert sheet._columns[-1][0] > 950
    drawn = sheet.drawn()
    assert drawn.ndim == 3
    assert drawn.shape[1] < 6 * 40
    assert _images.thumbnail(np.zeros((200, 960), np.uint8), 240).shape == (50, 240)


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from trueaxis.cli import main; main()", "separate"]
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )


def test_the_command(tmp_path: Path) -> None:
    np.savez(tmp_path / "clip.npz", frames=FRAMES)
    out = tmp_path / "out"
    done = run(tmp_path / "clip.npz", "-o", out, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["n_frames"] == len(FRAMES)
    assert all(Path(path).exists() for path in told["written"])
    refused = run(tmp_path / "clip.npz", "-o", out)
    assert refused.returncode == 2
    assert refused.stderr.startswith("Error: ")
    assert "--force" in refused.stderr
    done = run(tmp_path / "clip.npz", "-o", out, "--force", "--format", "images", "--window", 6)
    assert done.returncode == 0, done.stderr
    assert "12 frames" in done.stdout


@pytest.mark.parametrize(("module", "source"), [("PIL", "clip.npz"), ("imageio", "a.mp4")])
def test_a_missing_extra_is_named(tmp_path: Path, module: str, source: str) -> None:
    np.savez(tmp_path / "clip.npz", frames=FRAMES)
    (tmp_path / "a.mp4").write_bytes(b"")
    code = f"import sys; sys.modules[{module!r}] = None\nfrom trueaxis.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "separate", str(tmp_path / source), "-o", str(tmp_path / "o")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert 'pip install "trueaxis[video]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_nothing(tmp_path: Path, which: signal.Signals) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "long.npy", rng.integers(90, 110, (600, 60, 80), dtype=np.uint8))
    command = [sys.executable, "-c", "from trueaxis.cli import main; main()", "separate"]
    process = subprocess.Popen(
        [*command, "long.npy", "-o", "out", "--window", "20"], cwd=tmp_path, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 120
    while len(os.listdir(tmp_path)) == 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(os.listdir(tmp_path)) == 2  # the hidden folder is there
    process.send_signal(which)
    process.communicate(timeout=120)
    assert process.returncode not in (0, 1)
    assert os.listdir(tmp_path) == ["long.npy"]
