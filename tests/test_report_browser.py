"""The report in a real browser: it draws, answers mouse and keyboard, and fits a phone."""

import re
import time

import numpy as np
import pandas as pd
import pytest

from browser import CHROMIUM, REASON, Browser
from trueaxis import PCAOutlierDetector, RobustPCA, report
from trueaxis.datasets import make_contaminated
from trueaxis.outlier_map import OutlierMap

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=REASON)

EVIL = "</script><img src=x onerror=\"document.title='pwned'\">"
TAB, ENTER, ESCAPE, LEFT, RIGHT, HOME, END = 9, 13, 27, 37, 39, 36, 35


@pytest.fixture(scope="module")
def browser():
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def data():
    return make_contaminated("scattered", random_state=0)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, data):
    """Reports by name, each a file."""
    folder = tmp_path_factory.mktemp("reports")
    hostile = pd.DataFrame(data.X[:, :6])
    markup = "<script>document.title='pwned'</script>"
    hostile.columns = [markup, EVIL, "\u2028", "<!--", "'\"", "x" * 300]
    wide = np.random.default_rng(0).standard_normal((40, 300)).cumsum(axis=1)
    many = np.random.default_rng(0).standard_normal((50_000, 12)) * [9, 8, 7, 6, 5, *[1] * 7]
    many[:6000] += 20 * np.random.default_rng(1).standard_normal((6000, 12))
    fits = {
        "plain": (RobustPCA(3).fit(data.X), data.X, {}),
        "hostile": (
            RobustPCA(3).fit(hostile),
            hostile,
            {
                "ids": [f"{EVIL}{i}" for i in range(500)],
                "title": EVIL,
                "source": EVIL,
                "command": EVIL,
                "warnings": [EVIL],
            },
        ),
        "one axis": (PCAOutlierDetector(1).fit(wide), wide, {}),
        "many": (RobustPCA(5).fit(many), many, {}),
    }
    found = {}
    for name, (model, X, options) in fits.items():
        found[name] = folder / f"{name}.html"
        report.write(found[name], model, X, **options)
    return found


NAMES = ("plain", "hostile", "one axis", "many")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_loads_without_complaint_and_without_the_network(browser, pages, name, width, dark):
    browser.open(pages[name], width, dark=dark)
    assert browser.complaints == []
    assert browser.requests == [pages[name].as_uri()]
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('svg.points .dots circle').length") >= 80


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", NAMES)
def test_no_label_is_cut_off_and_no_two_ticks_overlap(browser, pages, name, width):
    browser.open(pages[name], width)
    cut, overlapping = browser.run(
        """(() => {
          const cut = [], overlapping = [];
          for (const svg of document.querySelectorAll("figure > svg")) {
            const frame = svg.getBoundingClientRect();
            const boxes = [...svg.querySelectorAll("text")]
              .filter((text) => text.getClientRects().length && !text.closest(".arrows"))
              .map((text) => [text.textContent, text.getBoundingClientRect()]);
            boxes.forEach(([a, box], i) => {
              if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
                  box.top < frame.top - 1 || box.bottom > frame.bottom + 1) cut.push(a);
              for (const [b, other] of boxes.slice(i + 1)) {
                if (box.left < other.right && other.left < box.right &&
                    box.top < other.bottom - 2 && other.top < box.bottom - 2)
                  overlapping.push([a, b]);
              }
            });
          }
          return [cut, overlapping];
        })()"""
    )
    assert cut == []
    assert overlapping == []


def middle(browser, selector, index=0):
    """The middle of an element in the window, after scrolling to it."""
    return browser.run(
        f"""(() => {{
          const found = document.querySelectorAll({selector!r})[{index}];
          found.scrollIntoView({{ block: "center" }});
          const box = found.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()"""
    )


def tips(browser):
    return browser.run(
        "[...document.querySelectorAll('.tip')].filter((t) => !t.hidden).map((t) => t.innerText)"
    )


def point_data(browser):
    return browser.run("JSON.parse(document.getElementById('points').textContent)")


@pytest.mark.parametrize("chart", ["#map", "#scores"])
@pytest.mark.parametrize("width", [1280, 360])
def test_hovering_a_point_shows_its_row_and_both_distances(browser, pages, data, chart, width):
    browser.open(pages["plain"], width)
    assert tips(browser) == []
    found = OutlierMap.of(RobustPCA(3).fit(data.X), data.X)
    shown = point_data(browser)
    # The farthest rows, and one of the regular ones.
    for rank in (0, 3, 499):
        i = shown["rank"].index(rank)
        x, y = middle(browser, f"{chart} .dots circle", i)
        browser.move(x, y)
        (tip,) = tips(browser)
        row = int(re.match(r"row (\d+)\n", tip).group(1))
        # Another row may lie on the very same place of the screen.
        at = shown["row"].index(row)
        far = np.subtract(
            middle(browser, f"{chart} .dots circle", i),
            middle(browser, f"{chart} .dots circle", at),
        )
        assert np.abs(far).max() < 2
        assert f"score distance {report._numbers.number(found.score[row])} " in tip
        assert f"orthogonal distance {report._numbers.number(found.orthogonal[row])} " in tip
        assert str(found.kinds[row]) in tip
        box = "document.querySelector('.tip:not([hidden])').getBoundingClientRect()"
        assert browser.run(f"{box}.left") >= 0
        assert browser.run(f"{box}.right") <= width
    browser.move(1, 1)
    assert tips(browser) == []


@pytest.mark.parametrize("chart", ["#map", "#scores"])
def test_the_keyboard_walks_from_row_to_row(browser, pages, chart):
    browser.open(pages["plain"])
    shown = point_data(browser)
    named = [f"row {shown['ids'][shown['rank'].index(rank)]}\n" for rank in range(500)]
    for _ in range(60):
        browser.press("Tab", TAB)
        if browser.run(f"document.activeElement.matches('{chart} .dots circle')"):
            break
    else:
        raise AssertionError("Tab never comes to a point")
    assert tips(browser)[0].startswith(named[0])
    for key, code, rank in (
        ("ArrowRight", RIGHT, 1),
        ("ArrowRight", RIGHT, 2),
        ("ArrowLeft", LEFT, 1),
        ("End", END, 499),
        ("ArrowRight", RIGHT, 499),
        ("Home", HOME, 0),
        ("ArrowLeft", LEFT, 0),
    ):
        browser.press(key, code)
        (tip,) = tips(browser)
        assert tip.startswith(named[rank])
        label = browser.run("document.activeElement.getAttribute('aria-label')")
        assert label == tip.replace("\n", ", ")
    browser.press("Escape", ESCAPE)
    assert tips(browser) == []
    # One point of a chart is in the order of Tab, so that it is no trap.
    browser.press("Tab", TAB)
    assert not browser.run(f"document.activeElement.matches('{chart} .dots circle')")


def column(browser, place):
    rows = "[...document.querySelectorAll('#outliers tbody tr')]"
    return browser.run(f"{rows}.map((r) => r.cells[{place}].innerText)")


def sorts(browser):
    return browser.run(
        "[...document.querySelectorAll('#outliers th[aria-sort]')].map((t) => t.ariaSort)"
    )


def test_the_table_sorts_by_click_and_by_keyboard(browser, pages):
    browser.open(pages["plain"])
    heads = browser.run(
        "[...document.querySelectorAll('#outliers thead th')].map((t) => t.innerText.trim())"
    )
    before = column(browser, 0)
    assert len(before) == 50
    sortable = [i for i, head in enumerate(heads) if "responsible" not in head]
    assert len(sortable) == 5
    assert sorts(browser).count("descending") == 1
    for place, index in enumerate(sortable):
        number = "distance" in heads[index] or "times" in heads[index]
        x, y = middle(browser, "#outliers thead button", place)
        seen = set()
        for by_key in (False, True):
            if by_key:
                browser.run(f"document.querySelectorAll('#outliers thead button')[{place}].focus()")
                browser.press("Enter", ENTER)
            else:
                browser.click(x, y)
            states = sorts(browser)
            direction = states.pop(place)
            assert set(states) == {"none"}
            seen.add(direction)
            values = [v.replace(",", "") for v in column(browser, index)]
            if number or index == 0:
                values = [float(v) for v in values]
            assert values == sorted(values, reverse=direction == "descending")
        assert seen == {"ascending", "descending"}
    assert sorted(column(browser, 0)) == sorted(before)


def test_a_row_of_the_table_is_marked_in_the_charts(browser, pages):
    browser.open(pages["plain"])
    browser.move(*middle(browser, "#outliers tbody tr", 1))
    visible = browser.run(
        "[...document.querySelectorAll('.ring')].map((r) => getComputedStyle(r).display)"
    )
    assert visible == ["inline", "inline"]


def test_another_pair_of_axes_moves_the_points(browser, pages):
    browser.open(pages["plain"])
    places = (
        "[...document.querySelectorAll('#scores .dots circle')]"
        ".map((c) => [c.cx.baseVal.value, c.cy.baseVal.value])"
    )
    before = np.array(browser.run(places))
    choose = (
        "(() => {{ const chosen = document.getElementById('pair'); chosen.value = '{}';"
        "chosen.dispatchEvent(new Event('change')); }})()"
    )
    browser.run(choose.format("0 2"))
    after = np.array(browser.run(places))
    np.testing.assert_allclose(after[:, 0], before[:, 0], atol=0.2)
    assert np.abs(after[:, 1] - before[:, 1]).max() > 20
    titles = browser.run(
        "[...document.querySelectorAll('#scores .title')]"
        ".filter((t) => t.getClientRects().length).map((t) => t.textContent)"
    )
    assert [title[:6] for title in titles] == ["axis 1", "axis 3"]
    browser.run(choose.format("0 1"))
    np.testing.assert_allclose(browser.run(places), before, atol=0.2)
    assert browser.complaints == []


def test_hostile_text_is_shown_and_does_nothing(browser, pages):
    browser.open(pages["hostile"])
    assert browser.run("document.images.length") == 0
    assert browser.run("document.scripts.length") == 2
    assert browser.run("document.title") == EVIL
    assert browser.run("document.querySelector('h1').innerText") == EVIL
    text = browser.run("document.querySelector('#loadings').innerText")
    assert "<script>document.title='pwned'</script>" in text
    assert EVIL in text
    shown = point_data(browser)
    browser.move(*middle(browser, "#map .dots circle", shown["rank"].index(0)))
    (tip,) = tips(browser)
    assert tip.startswith(f"row {EVIL}")
    assert browser.run("document.images.length") == 0
    assert browser.run("document.title") == EVIL


def test_a_script_that_got_in_would_not_run(browser, pages, tmp_path):
    text = pages["plain"].read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    script = "<script>document.title='pwned'</script><p onclick='1'></p>"
    broken.write_text(text.replace("<main>", f"<main>{script}", 1), encoding="utf-8")
    browser.open(broken)
    assert browser.run("document.title") != "pwned"
    assert any("Content Security Policy" in complaint for complaint in browser.complaints)


CONTRASTS = """(() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => c.match(/[\\d.]+/g).slice(0, 3).map(Number).map(channel)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const page = light(getComputedStyle(document.body).backgroundColor);
  const of = (selector, what, least) => [...document.querySelectorAll(selector)]
    .map((e) => [selector, ratio(light(getComputedStyle(e)[what]), page), least]);
  return [page, [
    ...of("p, h1, h2, th, td, a:not(.skip), figcaption, button, .found, .legend li", "color", 4.5),
    ...of("svg text", "fill", 4.5),
    ...of(".kind2, .kind3, .bar", "fill", 3),
    ...of(".kind1", "stroke", 3),
  ].filter(([, found, least]) => !(found >= least))];
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_stands_out_from_the_page(browser, pages, dark):
    browser.open(pages["plain"], dark=dark)
    page, faint = browser.run(CONTRASTS)
    assert (page < 0.05) if dark else (page > 0.9)
    assert faint == []


def test_it_prints_light_and_whole_even_in_dark_mode(browser, pages, tmp_path):
    browser.open(pages["plain"], dark=True)
    scheme = {"name": "prefers-color-scheme", "value": "dark"}
    browser.send("Emulation.setEmulatedMedia", media="print", features=[scheme])
    page, faint = browser.run(CONTRASTS)
    assert page > 0.9
    assert faint == []
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    region = "document.querySelector('#rows .wide')"
    assert browser.run(f"{region}.scrollHeight - {region}.clientHeight") <= 1
    browser.print(tmp_path / "report.pdf")
    pdf = (tmp_path / "report.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000


def test_the_largest_page_answers_quickly(browser, pages):
    started = time.monotonic()
    browser.open(pages["many"])
    shown = point_data(browser)
    assert len(shown["row"]) == 6000
    i = shown["rank"].index(0)
    browser.move(*middle(browser, "#map .dots circle", i))
    assert tips(browser)
    assert time.monotonic() - started < 20
