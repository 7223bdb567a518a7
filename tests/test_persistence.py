"""Models on disk: what comes back is what went in, and nothing else gets in."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.decomposition import PCA

from trueaxis import PCAOutlierDetector, RobustPCA, losses
from trueaxis._archive import FORMAT, NotAModelError, looks_like_a_model
from trueaxis._schema import dumps
from trueaxis.datasets import make_contaminated
from trueaxis.persistence import TRUSTED, load, load_table_model, save, stamp
from trueaxis.table_model import Settings, TableModel, fit
from trueaxis.tables import read

DATA = make_contaminated("scattered", n_samples=120, n_features=6, random_state=0).X


def table_model(folder: Path, **options: Any) -> TableModel:
    path = folder / "data.csv"
    np.savetxt(path, DATA, delimiter=",", header="a,b,c,d,e,f", comments="")
    return fit(read(path), Settings(k=2, **options)).model


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.skops"


@pytest.fixture
def saved(tmp_path: Path, path: Path) -> Path:
    save(table_model(tmp_path), path)
    return path


def rewritten(path: Path, change: dict[str, bytes | None]) -> Path:
    """The archive with parts replaced, added or (None) left out."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts.update({name: held for name, held in change.items() if held is not None})
    with zipfile.ZipFile(path, "w") as archive:
        for name, held in parts.items():
            if name not in change or change[name] is not None:
                archive.writestr(name, held)
    return path


def stamp_with(path: Path, **change: Any) -> Path:
    with zipfile.ZipFile(path) as archive:
        told = json.loads(archive.read("trueaxis.json"))
    return rewritten(path, {"trueaxis.json": json.dumps(told | change).encode()})


@pytest.mark.parametrize("scale", ["robust", "std", "none"])
def test_a_table_model_comes_back_to_the_bit(tmp_path: Path, path: Path, scale: str) -> None:
    model = table_model(tmp_path, scale=scale)
    save(model, path)
    again = load_table_model(path)
    table = read(tmp_path / "data.csv")
    rows, rows_again = model.preparation.rows(table), again.preparation.rows(table)
    np.testing.assert_array_equal(rows.X, rows_again.X)
    for one, other in zip(model.scores(rows).values(), again.scores(rows).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.map(rows).kinds, again.map(rows).kinds)
    assert again.preparation.columns == model.preparation.columns
    assert again.preparation.scale_name == scale
    assert (again.source, again.warned) == (model.source, model.warned)


@pytest.mark.parametrize(
    "estimator",
    [
        RobustPCA(2),
        RobustPCA(2, loss="bisquare", random_state=np.random.RandomState(3)),
        RobustPCA(2, loss=losses.Huber(threshold=2.0)),
        RobustPCA(2, loss=losses.L2p(0.5), center=False, start=np.eye(6)[:2]),
        PCAOutlierDetector(2, contamination=0.1),
    ],
)
def test_an_estimator_comes_back_with_its_history(estimator: Any, path: Path) -> None:
    estimator.fit(DATA)
    before = dict(vars(estimator))
    save(estimator, path)
    assert vars(estimator).keys() == before.keys()  # saving takes nothing away
    again = load(path)
    assert type(again) is type(estimator)
    one, other = (getattr(e, "pca_", e) for e in (estimator, again))
    np.testing.assert_array_equal(one.transform(DATA), other.transform(DATA))
    assert one.history_.dtype == other.history_.dtype
    np.testing.assert_array_equal(one.history_.objective, other.history_.objective)
    assert other.history_[-1].gap == one.history_[-1].gap
    assert repr(again.get_params()["loss"]) == repr(estimator.get_params()["loss"])
    np.testing.assert_array_equal(again.fit(DATA).predict(DATA), estimator.predict(DATA)) if (
        hasattr(again, "predict")
    ) else again.fit(DATA)


def tree(archive: bytes) -> Any:
    """What an archive of skops says, with its arrays in place, and without addresses."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:

        def plain(node: Any) -> Any:
            if isinstance(node, list):
                return [plain(part) for part in node]
            if not isinstance(node, dict):
                return node
            told = {name: plain(part) for name, part in node.items() if name != "__id__"}
            if "file" in told:
                array = np.load(io.BytesIO(opened.read(told.pop("file"))))
                told["array"] = (array.dtype.str, array.shape, array.tolist())
            return told

        return plain(json.loads(opened.read("schema.json")))


def test_what_is_written_is_what_skops_would_write() -> None:
    drawn = RobustPCA(2, loss="bisquare", random_state=np.random.RandomState(3)).fit(DATA)
    drawn.feature_names_in_ = np.array([f"column {j}" for j in range(6)], dtype=object)
    huber = RobustPCA(2, loss=losses.Huber(2.0), start=np.eye(6)[:2], check_breakdown=False)
    for content in (
        drawn,
        huber.fit(DATA),
        PCAOutlierDetector(2, loss=losses.Bisquare(0.4)).fit(DATA),
    ):
        del getattr(content, "pca_", content).history_  # records are more than skops knows
        held = {"it": content, "more": [1, (2.5, None), True, "é", np.float32(3), {}]}
        assert tree(dumps(held, TRUSTED)) == tree(skops.io.dumps(held))


def test_one_thing_in_two_places_is_one_again() -> None:
    numbers = np.arange(3.0)
    held = dumps({"a": numbers, "b": [numbers], "c": numbers.copy()}, [])
    again = skops.io.loads(held)
    assert again["a"] is again["b"][0]
    assert again["a"] is not again["c"]


def test_skops_alone_reads_what_is_written(saved: Path) -> None:
    assert set(skops.io.get_untrusted_types(file=saved)) <= set(TRUSTED)
    content = skops.io.load(saved, trusted=list(TRUSTED))
    axes = content["estimator"].pca_
    np.testing.assert_array_equal(axes.components_, load_table_model(saved).pca.components_)


def test_a_model_is_written_without_waiting_for_skops(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", DATA)
    code = (
        "import sys\n"
        "from trueaxis.cli.app import run\n"
        "assert run(['fit', 'data.npy', '-q', '--model', 'm.skops']) == 0\n"
        "sys.exit(', '.join({'skops', 'torch', 'pandas'} & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert isinstance(load(tmp_path / "m.skops"), TableModel)


def test_the_stamp_says_what_wrote_it(saved: Path) -> None:
    told = stamp(saved)
    assert told.format == FORMAT
    assert {"trueaxis", "numpy", "scikit-learn", "skops"} <= set(told.versions)
    assert told.created.startswith("20")
    assert looks_like_a_model(str(saved))
    assert not looks_like_a_model(__file__)


def test_an_unfitted_or_foreign_model_is_not_saved(path: Path) -> None:
    with pytest.raises(TypeError, match="PCA cannot be saved"):
        save(PCA(2).fit(DATA), path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not fitted"):
        save(RobustPCA(2), path)
    assert not path.exists()


def test_a_model_with_a_function_of_the_users_is_refused_at_once(path: Path) -> None:
    with pytest.raises(TypeError, match="could not be loaded again"):
        save(RobustPCA(2, callback=lambda *_: None).fit(DATA), path)
    assert list(path.parent.iterdir()) == []


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch hacked",)


def test_a_pickle_is_not_opened(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Evil(), protocol))
        with pytest.raises(NotAModelError, match="not a model of trueaxis"):
            load(path)
    assert not (tmp_path / "hacked").exists()


def hostile() -> bytes:
    """An archive of skops whose loading would call os.system."""
    held = skops.io.dumps({"estimator": RobustPCA(2)})
    schema = {
        "__class__": "dict",
        "__module__": "builtins",
        "__loader__": "DictNode",
        "__id__": 1,
        "key_types": {
            "__class__": "list",
            "__module__": "builtins",
            "__loader__": "ListNode",
            "__id__": 2,
            "content": [
                {
                    "__class__": "str",
                    "__module__": "builtins",
                    "__loader__": "TypeNode",
                    "__id__": 3,
                }
            ],
        },
        "content": {
            "estimator": {
                "__class__": "system",
                "__module__": "os",
                "__loader__": "ReduceNode",
                "__id__": 4,
                "__reduce__": {
                    "args": {
                        "__class__": "tuple",
                        "__module__": "builtins",
                        "__loader__": "TupleNode",
                        "__id__": 5,
                        "content": [
                            {
                                "__class__": "str",
                                "__module__": "builtins",
                                "__loader__": "JsonNode",
                                "__id__": 6,
                                "is_json": True,
                                "content": '"touch hacked"',
                            }
                        ],
                    }
                },
                "content": {
                    "__class__": "dict",
                    "__module__": "builtins",
                    "__loader__": "JsonNode",
                    "__id__": 7,
                    "is_json": True,
                    "content": "{}",
                },
            }
        },
    }
    with zipfile.ZipFile(io.BytesIO(held)) as archive:
        told = json.loads(archive.read("schema.json"))
    return json.dumps(told | schema).encode()


def test_a_model_that_would_run_a_command_is_refused(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotAModelError) as caught:
        load(rewritten(saved, {"schema.json": hostile()}))
    assert "refused" in str(caught.value) or "damaged" in str(caught.value)
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("module", "name"), [("os", "system"), ("subprocess", "Popen"), ("builtins", "eval")]
)
def test_a_type_put_in_the_place_of_ours_is_refused_by_name(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(saved) as archive:
        text = archive.read("schema.json").decode()
    assert '"PCAOutlierDetector"' in text
    text = text.replace('"PCAOutlierDetector"', f'"{name}"').replace(
        '"trueaxis.estimators.outlier_detector"', f'"{module}"'
    )
    with pytest.raises(NotAModelError, match=f"{module}.{name}"):
        load(rewritten(saved, {"schema.json": text.encode()}))


def test_an_estimator_of_another_library_is_refused(saved: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps({"estimator": PCA(2).fit(DATA)}))) as archive:
        parts: dict[str, bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    with pytest.raises(NotAModelError, match=r"(?s)damaged.*PCA"):
        load(rewritten(saved, parts))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_damaged(saved: Path, share: float) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(NotAModelError, match="damaged or was cut short"):
        load(saved)


def test_a_flipped_bit_is_damage(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        part = max(archive.infolist(), key=lambda p: p.file_size)
    held = bytearray(saved.read_bytes())
    held[part.header_offset + 200] ^= 1
    saved.write_bytes(held)
    with pytest.raises(NotAModelError, match="damaged"):
        load(saved)


def test_what_is_not_ours_is_told_apart(path: Path, saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.skops"
    other.write_bytes(skops.io.dumps(RobustPCA(2).fit(DATA).components_))
    with pytest.raises(NotAModelError, match="a model of skops, but none that trueaxis wrote"):
        load(other)
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(NotAModelError, match="a zip archive, but none"):
        load(other)
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(NotAModelError, match="not a model of trueaxis; `trueaxis fit"):
        load(other)
    with pytest.raises(NotAModelError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.skops")
    with pytest.raises(NotAModelError, match="stamp cannot be read"):
        load(rewritten(saved, {"trueaxis.json": b"not json"}))


def test_a_model_of_the_future_names_both_versions(saved: Path) -> None:
    newer = stamp_with(saved, format=FORMAT + 1, versions={"trueaxis": "9.9.9"})
    with pytest.raises(NotAModelError, match=r"trueaxis 9\.9\.9 in format 2.*Install a newer"):
        load(newer)


def test_a_stamp_of_something_else_is_refused(saved: Path) -> None:
    with pytest.raises(NotAModelError, match="its stamp says 'cake'"):
        load(stamp_with(saved, kind="cake"))


def test_a_bomb_is_not_unpacked(saved: Path) -> None:
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(1 << 25))
    with pytest.raises(NotAModelError, match="unpacks to more"):
        load(saved)


def test_columns_that_do_not_fit_the_axes_are_damage(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        text = archive.read("schema.json").decode()
    assert text.count('\\"f\\"') == 1
    without = json.loads(text)
    columns = without["content"]["preparation"]["content"]["columns"]["content"]
    columns.pop()
    with pytest.raises(NotAModelError, match="not as many"):
        load(rewritten(saved, {"schema.json": json.dumps(without).encode()}))


def test_an_existing_model_stays_unless_force_is_given(saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(ValueError, match="exists already"):
        save(RobustPCA(1).fit(DATA), saved)
    assert saved.read_bytes() == before
    save(RobustPCA(1).fit(DATA), saved, force=True)
    assert load(saved).n_components_ == 1
    with pytest.raises(NotAModelError, match="without the columns and units"):
        load_table_model(saved)
