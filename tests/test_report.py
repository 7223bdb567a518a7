"""What a report says, and that nothing in the data can say it differently."""

import json
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from helpers import heavy_tailed
from trueaxis import PCAOutlierDetector, RobustPCA, report
from trueaxis.contributions import contributions
from trueaxis.datasets import make_contaminated
from trueaxis.outlier_map import OutlierMap
from trueaxis.outliers import KINDS
from trueaxis.report import _numbers
from trueaxis.report._markup import json_script, tag

VOID = {"meta", "link", "circle", "line", "path", "rect"}


class Page(HTMLParser):
    """Elements, text and data of a page; anything not closed in order is an error."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts, self.scripts = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        kind = self.scripts if self.open and self.open[-1] == "script" else self.texts
        kind.append(data)

    @property
    def text(self):
        return " ".join(self.texts)

    @property
    def data(self):
        return json.loads(self.scripts[0])

    def count(self, name):
        return sum(element == name for element, _ in self.elements)


@pytest.fixture(scope="module")
def data():
    return make_contaminated("scattered", random_state=0)


@pytest.fixture(scope="module", params=["pca", "detector"])
def model(request, data):
    return RobustPCA(3).fit(data.X) if request.param == "pca" else PCAOutlierDetector(3).fit(data.X)


def test_the_report_has_what_it_should(model, data):
    page = Page(report.render(model, data.X, source="some.csv", command=["trueaxis", "a b.csv"]))
    found = OutlierMap.of(model, data.X)
    for section in ("summary", "warnings", "map", "rows", "scores", "scree", "loadings"):
        assert sum(attributes.get("id") == section for _, attributes in page.elements) == 1
    assert type(model).__name__ in page.text
    assert f"{found.flagged.sum()} of 500 rows" in page.text
    assert "some.csv" in page.text
    assert "trueaxis 'a b.csv'" in page.text
    assert "The fit gave no warning." in page.text
    assert "All 500 rows are shown." in page.text
    for package in ("numpy", "scikit-learn", "Python"):
        assert package in page.text
    for name in model.get_params(deep=False):
        assert name in page.text
    for kind, n in found.counts.items():
        assert f"{kind}: {n}" in page.text


def test_it_is_one_file_that_asks_for_nothing(model, data):
    text = report.render(model, data.X)
    page = Page(text)
    for name, attributes in page.elements:
        assert name not in {"img", "iframe", "object", "embed", "base"}
        assert "src" not in attributes
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:"))
        assert not any(key.startswith("on") for key in attributes)
    assert not re.search(r"@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text)


def test_the_same_fit_gives_the_same_report(model, data):
    assert report.render(model, data.X) == report.render(model, data.X)


def test_the_points_are_the_rows(model, data):
    page = Page(report.render(model, data.X))
    found, shown = OutlierMap.of(model, data.X), page.data
    rows = np.array(shown["row"])
    assert sorted(rows) == list(range(500))
    assert page.count("circle") >= 2 * 500
    assert [KINDS[code] for code in shown["kind"]] == list(found.kinds[rows])
    assert shown["sd"] == [_numbers.number(d) for d in found.score[rows]]
    assert shown["od"] == [_numbers.number(d) for d in found.orthogonal[rows]]
    by_rank = rows[np.argsort(shown["rank"])]
    excess = found.excess
    flagged = found.flagged.sum()
    assert (np.diff(excess[by_rank[:flagged]]) <= 0).all()
    assert found.flagged[by_rank[:flagged]].all()
    Z = getattr(model, "pca_", model).transform(data.X)
    np.testing.assert_allclose(np.array(shown["z"]).T, Z[rows], rtol=1e-4, atol=1e-8)


def test_the_table_has_the_farthest_rows_and_the_columns_responsible(data):
    frame = pd.DataFrame(data.X, columns=[f"c{j}" for j in range(20)])
    frame.index = [f"obs{i}" for i in range(500)]
    model = RobustPCA(3).fit(frame)
    found = OutlierMap.of(model, frame)
    text = report.render(model, frame)
    body = text[text.index("<tbody>") : text.index("</tbody>")]
    lines = body.split("<tr")[1:]
    worst = np.argsort(-found.excess, kind="stable")[:50]
    assert re.findall(r'data-row="(\d+)"', body) == [str(i) for i in worst]
    shares = contributions(model, frame)
    for i, line in zip(worst, lines, strict=True):
        assert f"obs{i}<" in line
        first = re.search(r'class="column">(\w+)<.*?>([\d.]+) %<', line)
        assert first.groups() == (
            f"c{shares[i].argmax()}",
            f"{100 * shares[i].max():.1f}".removesuffix(".0"),
        )
        assert _numbers.number(data.X[i, shares[i].argmax()]) in line


def test_ids_and_columns_are_used_in_every_form(data):
    model = RobustPCA(3).fit(data.X)
    names = [f"name{j}" for j in range(20)]
    for ids in (
        [f"id{i}" for i in range(500)],
        np.array([f"id{i}" for i in range(500)]),
        pd.Series([f"id{i}" for i in range(500)], index=range(500, 0, -1)),
        (f"id{i}" for i in range(500)),
    ):
        page = Page(report.render(model, data.X, ids=ids, columns=names))
        assert page.data["ids"] == [f"id{i}" for i in page.data["row"]]
        assert "name19" in page.text
    several = pd.MultiIndex.from_product([range(50), list("abcdefghij")])
    assert "(0, 'a')" in Page(report.render(model, data.X, ids=several)).data["ids"]
    with pytest.raises(ValueError, match="ids has 3 entries, but X has 500 rows"):
        report.render(model, data.X, ids=[1, 2, 3])
    with pytest.raises(ValueError, match="columns has 2 entries, but X has 20 columns"):
        report.render(model, data.X, columns=["a", "b"])


def test_warnings_are_shown_in_every_form(data):
    model = RobustPCA(3).fit(data.X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("caught <b>", UserWarning, stacklevel=1)
    text = Page(
        report.render(model, data.X, warnings=[*caught, "a text", RuntimeWarning("w")])
    ).text
    for said in ("caught <b>", "a text", "w"):
        assert said in text


def test_a_fit_that_did_not_converge_is_said_to_have_not():
    X = heavy_tailed(100, 8, 2)
    model = RobustPCA(3, solver="proximal", tol=0, max_iter=2, start="random").fit(X)
    assert "did not converge" in Page(report.render(model, X)).text


HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</style><style>body{display:none}",
    "<!--",
    "<!--<script>",
    "]]>",
    "\" onmouseover='alert(1)",
    "&lt;b&gt;",
    "\u2028\u2029",
    "\x00\x07\x1b[31m",
    "\ud800",
    "\u202eright to left",
    "{{7*7}}${7*7}`",
    "x" * 5000,
    "",
)


def render_hostile(texts):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, len(texts))) * np.linspace(3, 1, len(texts))
    X[:4] += 30.0
    text = texts[0] or "-"
    model = RobustPCA(3, check_breakdown=False).fit(X)
    ids = [texts[i % len(texts)] for i in range(40)]
    return report.render(
        model, X, ids=ids, columns=texts, title=text, source=text, command=text, warnings=texts
    )


def skeleton(text):
    """Names and attributes of the elements, but for what texts may decide."""
    free = {"content", "data-value", "aria-label"}
    return [
        (name, sorted((k, "" if k in free else v) for k, v in attributes.items()))
        for name, attributes in Page(text).elements
        # Arrow labels that would collide are left out, and that depends on their length.
        if (name, attributes.get("dominant-baseline")) != ("text", "central")
    ]


@pytest.mark.parametrize("position", range(len(HOSTILE)))
def test_hostile_text_is_text(position):
    texts = [*HOSTILE[position:], *HOSTILE[:position]]
    page = render_hostile(texts)
    assert skeleton(page) == skeleton(render_hostile([f"c{j}" for j in range(len(texts))]))
    page.encode("utf-8")
    assert "\u2028" not in page[page.index('type="application/json"') :]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=3, max_size=3))
def test_any_text_is_text(texts):
    plain = ["a", "b", "c"]
    assert skeleton(render_hostile(texts)) == skeleton(render_hostile(plain))


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.tuples(inner)))
def test_data_for_the_script_cannot_leave_it(value):
    text = json_script("data", value)
    inside = re.fullmatch(r"<script [^>]*>(.*)</script>", text, re.S).group(1)
    assert not set("<>&\u2028\u2029") & set(inside)
    json.loads(inside)


def test_attributes_and_children_are_escaped():
    assert tag("p", "<b>", title='"&') == '<p title="&quot;&amp;">&lt;b&gt;</p>'


def test_a_million_rows_are_a_small_file_with_every_outlier():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 5), dtype=np.float32) * np.float32([9, 5, 1, 1, 1])
    X[:2000] += 100.0
    model = RobustPCA(2).fit(X)
    text = report.render(model, X)
    assert len(text.encode()) < 2_000_000
    found = OutlierMap.of(model, X)
    n = int(found.flagged.sum())
    page = Page(text)
    assert n > 4000
    assert f"the 4,000 farthest of the {n:,} rows beyond a cut-off" in page.text
    assert f"2,000 of the {1_000_000 - n:,} regular rows" in page.text
    assert "6,000 of 1,000,000 rows" in page.text
    rows = np.array(page.data["row"])
    worst = np.argsort(-found.excess, kind="stable")[:4000]
    assert set(worst) <= set(rows)
    # All flagged rows are there where the limit allows it.
    few = np.r_[0:30, 2000:100_000]
    page = Page(report.render(model, X[few]))
    flagged = OutlierMap.of(model, X[few]).flagged
    assert 100 < flagged.sum() < 4000
    assert set(np.flatnonzero(flagged)) <= set(page.data["row"])
    assert f"all {flagged.sum():,} rows beyond a cut-off" in page.text


@pytest.mark.parametrize(
    "X",
    [
        heavy_tailed(14, 2),
        heavy_tailed(30, 300),
        np.outer(np.arange(40.0), [1.0, 2.0, 2.0]) + 5.0,
        np.ones((20, 3)),
        1e-9 * heavy_tailed(50, 4),
        1e9 * heavy_tailed(50, 4),
        heavy_tailed(50, 4).astype(np.float32),
        heavy_tailed(60, 1),
    ],
    ids=["tiny", "wide", "line", "constant", "small", "large", "single", "one column"],
)
@pytest.mark.parametrize("kind", [RobustPCA, PCAOutlierDetector])
def test_any_data_that_can_be_fitted_can_be_reported(X, kind):
    for k in {1, min(2, *X.shape)}:
        model = kind(k).fit(X)
        page = Page(report.render(model, X))
        assert "NaN" not in page.text
        assert "nan" not in json.dumps(page.data).lower()
        assert not re.search(r'(?:cx|cy|x1|y1|x|y|width|height|d)="[^"]*(?:nan|inf)', page.rawdata)


def test_all_axes_and_plain_pca_can_be_reported():
    X = heavy_tailed(100, 30, 4)
    for model in (RobustPCA().fit(X), RobustPCA(2, p=2).fit(X), RobustPCA(0.9).fit(X)):
        assert Page(report.render(model, X)).text


def test_sparse_rows_can_be_reported():
    X = heavy_tailed(80, 6, 3) * (np.random.default_rng(0).random((80, 6)) < 0.5)
    model = RobustPCA(2, check_breakdown=False).fit(X)
    assert Page(report.render(model, csr_array(X))).data["row"]


def test_write_is_all_or_nothing(tmp_path, data, monkeypatch):
    model = RobustPCA(3).fit(data.X)
    path = tmp_path / "report.html"
    report.write(path, model, data.X, title="first")
    assert path.read_text(encoding="utf-8") == report.render(model, data.X, title="first")
    assert path.stat().st_mode & 0o777 == 0o666 & ~report._umask()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(report.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        report.write(path, model, data.X, title="second")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert "first" in path.read_text(encoding="utf-8")
    with pytest.raises(FileNotFoundError):
        report.write(tmp_path / "no" / "folder.html", model, data.X)


def test_numbers_read_well():
    assert [_numbers.number(x) for x in (0, -0.5, 1234.5678, 123456.7, 1e-9, -2.5e12)] == [
        "0",
        "−0.5",
        "1235",
        "123,457",
        "10⁻⁹",
        "−2.5×10¹²",
    ]


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_within(low, width):
    high = low + width * max(1.0, abs(low))
    ticks = _numbers.linear_ticks(low, high)
    assert 2 <= len(ticks) <= 9
    slack = 1e-6 * (high - low)
    assert all(low - slack <= x <= high + slack for x, _ in ticks)


@given(st.floats(-8, 8), st.floats(0.35, 20))
def test_log_ticks_are_few_and_within(low, decades):
    ticks = _numbers.log_ticks(10.0**low, 10.0 ** (low + decades))
    assert 1 <= len(ticks) <= 9
    labels = [label for _, label in ticks]
    assert len(set(labels)) == len(labels)
