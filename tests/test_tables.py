"""Tables as people have them: every format, dialect and defect."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trueaxis.tables import Table, read, write
from trueaxis.tables.selection import choose_columns, counting_column, take

X = np.array([[1.5, -2.0, 3e-7], [4.25, 5.0, -6.125], [0.1, 1e300, 7.0]])
NAMES = ("a", "b", "c")


def numbers(table: Table) -> np.ndarray:
    names, _ = choose_columns(table)
    return table.columns.numbers(names)


def text(delimiter: str, decimal: str = ".", end: str = "\n", header: bool = True) -> str:
    lines = [delimiter.join(NAMES)] if header else []
    lines += [delimiter.join(repr(float(x)).replace(".", decimal) for x in row) for row in X]
    return end.join(lines) + end


def saved(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("delimiter", "decimal"),
    [(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ".")],
)
def test_delimiter_and_decimal_mark_are_told(
    tmp_path: Path, delimiter: str, decimal: str, end: str
) -> None:
    table = read(saved(tmp_path, text(delimiter, decimal, end)))
    assert table.names == NAMES
    np.testing.assert_array_equal(numbers(table), X)
    assert bool(table.notes) == (delimiter != ",")


def test_spaces_between_numbers_and_a_comment_above(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    np.savetxt(path, X)
    np.testing.assert_array_equal(numbers(read(path)), X)
    np.savetxt(path, X, delimiter=",", header="measured on a Monday")
    np.testing.assert_array_equal(numbers(read(path)), X)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_marks_and_encodings(tmp_path: Path, encoding: str) -> None:
    table = read(saved(tmp_path, "größe,b\n1,2\n3,4\n".encode(encoding)))
    assert table.names == ("größe", "b")
    np.testing.assert_array_equal(numbers(table), [[1, 2], [3, 4]])


def test_quoted_numbers_signs_and_a_last_line_without_its_end(tmp_path: Path) -> None:
    table = read(saved(tmp_path, '"a, first",b\n"1.5","+2"\n" 3 ","+4.5"'))
    assert table.names == ("a, first", "b")
    np.testing.assert_array_equal(numbers(table), [[1.5, 2], [3, 4.5]])


def test_a_line_break_in_quotes(tmp_path: Path) -> None:
    table = read(saved(tmp_path, 'name,a\n"one\ntwo",1\nthree,2\n'))
    np.testing.assert_array_equal(numbers(table), [[1], [2]])
    assert table.columns.labels("name") == ["one\ntwo", "three"]


def test_without_a_header_the_columns_are_numbered_and_said_to_be(tmp_path: Path) -> None:
    table = read(saved(tmp_path, text(",", header=False)))
    assert table.names == ("x1", "x2", "x3")
    np.testing.assert_array_equal(numbers(table), X)
    assert "no header" in table.notes[0]
    assert not table.named


def test_the_user_has_the_last_word_on_header_and_delimiter(tmp_path: Path) -> None:
    years = saved(tmp_path, "1990,1991\n1,2\n3,4\n")
    assert read(years, header=True).names == ("1990", "1991")
    assert len(read(years, header=False)) == 3
    assert read(years, delimiter=";", header=True).names == ("1990,1991",)


def test_row_names_without_a_title_and_rows_that_end_in_a_delimiter(tmp_path: Path) -> None:
    table = read(saved(tmp_path, '"a","b"\n"r1",1,2\n"r2",3,4\n'))
    assert table.names == ("row name", "a", "b")
    np.testing.assert_array_equal(numbers(table), [[1, 2], [3, 4]])
    table = read(saved(tmp_path, "a,b\n1,2,\n3,4,\n"))
    np.testing.assert_array_equal(numbers(table), [[1, 2], [3, 4]])


def test_a_name_given_twice_or_not_at_all_is_made_distinct_and_told(tmp_path: Path) -> None:
    table = read(saved(tmp_path, "a,a,,a\n1,2,3,4\n5,6,7,8\n"))
    assert table.names == ("a", "a (2)", "column 3", "a (3)")
    assert len(table.notes) == 3
    np.testing.assert_array_equal(numbers(table), [[1, 2, 3, 4], [5, 6, 7, 8]])


def test_one_column(tmp_path: Path) -> None:
    np.testing.assert_array_equal(numbers(read(saved(tmp_path, "a\n1\n2\n"))), [[1], [2]])


def test_text_and_dates_are_left_out_and_named(tmp_path: Path) -> None:
    table = read(
        saved(tmp_path, "who,when,ok,a,none\nann,2020-01-01,true,1,\nbob,2020-01-02,false,2,\n")
    )
    names, notes = choose_columns(table)
    assert names == ("a",)
    for told in ("who (text)", "when (date)", "ok (true/false)", "none (empty)"):
        assert told in notes[0]


def test_a_column_with_one_typing_error_is_not_lost_in_silence(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i if i != 40 else '4o'}\n" for i in range(300))
    table = read(saved(tmp_path, "a,b\n" + rows))
    assert "'4o' in row 41" in table.notes[0]
    with pytest.raises(ValueError, match=r"column 'b' is not of numbers: '4o' in row 41"):
        choose_columns(table, ["a", "b"])


@pytest.mark.parametrize("late", ["x", "+2.5", "2020-01-01", "7", "", "true", " 3.5 ", "1e400"])
def test_an_entry_far_down_decides_as_one_at_the_top_would(tmp_path: Path, late: str) -> None:
    def table(*entries: str) -> Table:
        path = tmp_path / "t.csv"
        path.write_text("a,b\n" + "\n".join(f"{e},1" for e in entries) + "\n", encoding="utf-8")
        return read(path)

    many = ["1.5"] * 1000
    top, bottom = table(late, *many), table(*many, late)
    assert top.columns.kind("a") == bottom.columns.kind("a")
    assert top.columns.labels("a")[0] == bottom.columns.labels("a")[-1]
    if top.columns.not_a_number("a") is None:
        one, other = (t.columns.numbers(("a", "b")) for t in (top, bottom))
        np.testing.assert_array_equal(np.sort(one, axis=0), np.sort(other, axis=0))


def test_a_byte_far_down_tells_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    many = "1.5,x,2.5\n" * 50_000
    path.write_bytes(f"a,b,c\n{many}2.5,é,€\n".encode("cp1252"))
    table = read(path)
    assert table.columns.labels("b")[-2:] == ["x", "é"]
    assert len(table.notes) == 1
    assert "column 'c' is taken for text because of '€' in row 50001" in table.notes[0]
    np.testing.assert_array_equal(table.columns.numbers(("a",))[-2:, 0], [1.5, 2.5])


def test_whole_numbers_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"id,a\n{2**53 + 1},1.5\n,2.5\n{2**63 - 1},\n", encoding="utf-8")
    columns = read(path).columns
    assert columns.labels("id") == [str(2**53 + 1), "", str(2**63 - 1)]
    np.testing.assert_array_equal(
        columns.numbers(("id", "a")), [[2.0**53, 1.5], [np.nan, 2.5], [2.0**63, np.nan]]
    )


def test_columns_by_name_list_and_pattern(tmp_path: Path) -> None:
    table = read(saved(tmp_path, 'V1,V2,"a,b",V10,id\n' + "1,2,3,4,5\n" * 3))
    assert choose_columns(table, ["V1,V10"])[0] == ("V1", "V10")
    assert choose_columns(table, ["V*"], ["V2"])[0] == ("V1", "V10")
    assert choose_columns(table, ["a,b"])[0] == ("a,b",)
    assert choose_columns(table, id_column="id")[0] == ("V1", "V2", "a,b", "V10")
    with pytest.raises(ValueError, match=r"has no column 'v1'; did you mean 'V1'\?"):
        choose_columns(table, ["v1"])
    with pytest.raises(ValueError, match="no column of numbers"):
        choose_columns(table, [], ["*"])


def test_missing_entries_are_refused_by_place_or_dropped(tmp_path: Path) -> None:
    table = read(saved(tmp_path, "id,a,b\nr1,1,2\nr2,,4\nr3,5,NA\nr4,7,8\n"))
    with pytest.raises(ValueError, match=r"column 'a', row 2 has no value \(2 such .* in 2 rows"):
        take(table, ("a", "b"), "id", "error")
    rows = take(table, ("a", "b"), "id", "drop")
    np.testing.assert_array_equal(rows.X, [[1, 2], [7, 8]])
    assert rows.labels(np.array([1])) == ["r4"]
    assert rows.at.tolist() == [0, 3]
    empty = read(saved(tmp_path, "a,b\n1,\n,2\n"))
    with pytest.raises(ValueError, match="in every row"):
        take(empty, ("a", "b"), None, "drop")


def test_infinity_is_no_measurement(tmp_path: Path) -> None:
    table = read(saved(tmp_path, "a,b\n1,2\n3,inf\n"))
    with pytest.raises(ValueError, match=r"column 'b', row 2 is infinite"):
        take(table, ("a", "b"), None, "drop")


def test_a_column_that_counts_the_rows_is_noticed(tmp_path: Path) -> None:
    table = read(saved(tmp_path, "n,a\n1,5\n2,1\n3,9\n4,4\n"))
    names, _ = choose_columns(table)
    assert "'n' counts the rows" in counting_column(table, names, numbers(table))
    assert counting_column(table, names[1:], numbers(table)[:, 1:]) == ""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n1,2\n3\n", "line 3 has 1 column"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 column"),
        (b"GIF89a\0\0\1\2", "binary"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as .xlsx or CSV"),
        (b"PAR1 and nothing else", "not a whole Parquet file"),
        (b"PK\3\4 and nothing else", "not a whole .npz file"),
        (b"\x93NUMPY\1", "cannot be read"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, content: str | bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        read(saved(tmp_path, content))
    assert str(tmp_path / "t.csv") in str(caught.value)


def test_a_bad_line_far_down_is_named_by_its_number(tmp_path: Path) -> None:
    lines = ["a,b"] + ["1,2"] * 300_000 + ["1,2,3"] + ["1,2"] * 300_000
    with pytest.raises(ValueError, match="line 300002 has 3 column"):
        read(saved(tmp_path, "\n".join(lines)))


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    table = read(saved(tmp_path, "a,b\n"))
    assert len(table) == 0
    with pytest.raises(ValueError, match="no rows below its header"):
        take(table, ("a",), None, "error")


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(text(";", ",").encode())

    monkeypatch.setattr(sys, "stdin", Stdin())
    np.testing.assert_array_equal(numbers(read("-")), X)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text(","),))
    writer.start()
    np.testing.assert_array_equal(numbers(read(pipe)), X)
    writer.join()


@pytest.mark.parametrize("suffix", [".parquet", ".npy", ".npz", ".xlsx", ".csv.gz"])
def test_other_formats_hold_the_same_numbers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"with a space{suffix}"
    frame = pd.DataFrame(X, columns=list(NAMES))
    if suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".npy":
        np.save(path, X)
    elif suffix == ".npz":
        np.savez(path, X=X, other=np.zeros((2, 2)))
    elif suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False)
    table = read(path)
    np.testing.assert_array_equal(numbers(table), X)
    assert table.names == (NAMES if suffix not in {".npy", ".npz"} else ("x1", "x2", "x3"))


def test_parquet_of_other_types(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame(
        {
            "i": np.array([1, 2], dtype=np.int8),
            "f": np.array([0.5, np.nan], dtype=np.float32),
            "s": pd.Categorical(["u", "v"]),
        }
    )
    frame.to_parquet(path)
    table = read(path)
    assert choose_columns(table)[0] == ("i", "f")
    np.testing.assert_array_equal(numbers(table), [[1, 0.5], [2, np.nan]])
    assert table.columns.labels("s") == ["u", "v"]


def test_arrays_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    np.save(path, np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="3 dimensions, 2 x 2 x 2"):
        read(path)
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="could run code"):
        read(path)
    both = tmp_path / "t.npz"
    np.savez(both, one=X, two=X)
    with pytest.raises(ValueError, match="several matrices: 'one' 3 x 3, 'two' 3 x 3"):
        read(both)
    np.testing.assert_array_equal(numbers(read(both, part="two")), X)
    with pytest.raises(ValueError, match="no array 'three'"):
        read(both, part="three")


def test_a_workbook_of_several_sheets(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    book = openpyxl.Workbook()
    book.active.title = "cover"
    sheet = book.create_sheet("data")
    for row in [["who", "a"], ["ann", 1], ["bob", None], ["cyd", 2.5]]:
        sheet.append(row)
    book.save(path)
    table = read(path)
    assert "'data'" in table.notes[0]
    np.testing.assert_array_equal(numbers(table), [[1], [np.nan], [2.5]])
    with pytest.raises(ValueError, match="no sheet 'x'; it has 'cover', 'data'"):
        read(path, part="x")
    with pytest.raises(ValueError, match="is empty"):
        read(path, part="cover")


@settings(max_examples=30, deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 4)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.sampled_from([".csv", ".tsv", ".parquet", ".npy"]),
)
def test_what_is_written_is_read_again_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, Z: np.ndarray, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("t") / f"z{suffix}"
    write({f"pc{j}": Z[:, j] for j in range(Z.shape[1])}, path)
    table = read(path, header=True if suffix in {".csv", ".tsv"} else None)
    found = table.columns.numbers(table.names)
    np.testing.assert_array_equal(found, Z)


def test_names_and_labels_with_delimiters_and_quotes_survive(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write({'a,"b"': ['x,"y"', "z\nw"], "ü": np.array([1.0, 2.0])}, path)
    table = read(path)
    assert table.names == ('a,"b"', "ü")
    assert table.columns.labels('a,"b"') == ['x,"y"', "z\nw"]


def test_a_line_longer_than_a_block(tmp_path: Path) -> None:
    table = read(saved(tmp_path, f"name,a\nx,1\n{'long ' * 1_000_000},2\ny,3\n"))
    np.testing.assert_array_equal(numbers(table), [[1], [2], [3]])


def test_numbers_are_read_without_the_rest_of_arrow(tmp_path: Path) -> None:
    path = saved(tmp_path, "a,b\n1,2\n3,4.5\n")
    code = (
        "import sys\n"
        "from trueaxis.tables import read\n"
        "read(sys.argv[1]).columns.numbers(('a', 'b'))\n"
        "sys.exit(', '.join({'pyarrow.compute', 'pyarrow.parquet'} & set(sys.modules)) or 0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_the_matrix_does_not_depend_on_how_arrow_cut_the_rows(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((40_000, 5))
    X[::7, 3] = np.nan
    path = tmp_path / "t.parquet"
    pd.DataFrame(X, columns=list("abcde")).to_parquet(path, row_group_size=999)
    found = read(path).columns.numbers(("e", "d", "a"))
    np.testing.assert_array_equal(found, X[:, [4, 3, 0]])
