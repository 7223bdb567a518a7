"""How well and how fast `trueaxis separate` separates: F-measure, frames a second, peak memory.

Run ``python benchmarks/video.py``; each video is separated in a process of its own, whose peak
memory is printed. The F-measure is on cdnet_office, on pixels coded 0 or 50 (background) against
255 (moving). ``--pcp`` adds principal component pursuit of the whole clip with the best fixed
threshold, and a median with the best fixed threshold: what is found with the truth in hand.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from timing import machine

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
CLIPS = {
    "cdnet_office": "cdnet_office/cdnet_office_gray_120x180_every8.npz",
    "escalator": "escalator/escalator.npz",
    "hall": "decolor_video/hall.npz",
    "airport": "decolor_video/airport.npz",
    "waterSurface": "decolor_video/waterSurface.npz",
    "opencv_vtest": "opencv_vtest/vtest_gray_144x192_795.npz",
}
THRESHOLDS = (5, 10, 15, 20, 25, 30, 40, 50, 70)


def score(mask: np.ndarray, gt: np.ndarray) -> tuple[float, float, float]:
    """F-measure, precision and recall on the pixels coded 0, 50 and 255."""
    moving, background = gt == 255, (gt == 0) | (gt == 50)
    hits = float((mask & moving).sum())
    precision = hits / max(float(hits + (mask & background).sum()), 1.0)
    recall = hits / max(float(moving.sum()), 1.0)
    return 2 * precision * recall / max(precision + recall, 1e-12), precision, recall


def one(path: Path) -> dict[str, float]:
    """Separate a video; what it took."""
    from trueaxis.video import separate

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    masks = [part.mask for part in separate(path, array="frames")]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mask = np.concatenate(masks)
    found = {
        "frames": len(mask), "height": mask.shape[1], "width": mask.shape[2],
        "fps": len(mask) / wall, "cpu_fps": len(mask) / cpu, "share": float(mask.mean()),
        "peak_mb": peak / 1024, "own_mb": (peak - before) / 1024,
    }  # fmt: skip
    held = np.load(path)
    if "gt" in held:
        found |= dict(zip(("f", "precision", "recall"), score(mask, held["gt"]), strict=True))
    return found


def best_threshold(frames: np.ndarray, background: np.ndarray, gt: np.ndarray) -> str:
    """The best score of any fixed threshold on |D − L|."""
    residual = np.abs(frames - background)
    scores = {threshold: score(residual > threshold, gt) for threshold in THRESHOLDS}
    threshold = max(scores, key=lambda key: scores[key])
    f, precision, recall = scores[threshold]
    return f"F {f:.3f}, precision {precision:.3f}, recall {recall:.3f} at threshold {threshold}"


def rivals(path: Path) -> None:
    """Median and principal component pursuit, each with the threshold that suits it best."""
    held = np.load(path)
    frames, gt = held["frames"].astype(np.float64), held["gt"]
    print("median:", best_threshold(frames, np.median(frames, axis=0), gt))
    try:
        from trueaxis.pursuit import PrincipalComponentPursuit
    except ImportError:
        print("principal component pursuit: trueaxis.pursuit is not there")
        return
    began = time.perf_counter()
    pursuit = PrincipalComponentPursuit(tol=1e-4).fit(frames.reshape(len(frames), -1))
    seconds = time.perf_counter() - began
    background = np.asarray(pursuit.low_rank_).reshape(frames.shape)
    print("PCP:", best_threshold(frames, background, gt), f"({len(frames) / seconds:.0f} frames/s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("clips", nargs="*", default=list(CLIPS), help=", ".join(CLIPS))
    parser.add_argument("--pcp", action="store_true", help="add the rivals")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return
    print(machine())
    print(f"{'clip':14} {'frames':>14} {'F':>6} {'prec.':>6} {'rec.':>6} {'frames/s':>9} "
          f"{'per CPU s':>9} {'peak MB':>8} {'own MB':>7} {'moving':>7}")  # fmt: skip
    for name in options.clips:
        path = DATA / CLIPS[name]
        if not path.exists():
            print(f"{name:14} skipped: {path.name} is not in shared/data")
            continue
        command = [sys.executable, __file__, "--one", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        r = json.loads(done.stdout)
        scores = [
            f"{r[key]:6.3f}" if key in r else f"{'–':>6}" for key in ("f", "precision", "recall")
        ]
        size = f"{r['frames']}×{r['height']}×{r['width']}"
        print(f"{name:14} {size:>14} {' '.join(scores)} {r['fps']:9.0f} {r['cpu_fps']:9.0f} "
              f"{r['peak_mb']:8.0f} {r['own_mb']:7.0f} {r['share']:7.1%}")  # fmt: skip
    if options.pcp:
        rivals(DATA / CLIPS["cdnet_office"])


if __name__ == "__main__":
    main()
