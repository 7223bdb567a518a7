"""An archive of skops, written without skops: what a model is made of, and nothing else.

skops imports all of scikit-learn, and PyTorch where there is one, to know whom it may trust when
it reads. Writing needs none of that, and a fit of a million rows takes less time. The format is
the one that skops 0.13 and later read: ``schema.json``, a tree of nodes that name their type and
the loader they are for, and the arrays beside it as .npy files. What loads it is skops itself.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

PROTOCOL = 2  # of skops; it reads files of those before its own
_PLAIN = (type(None), bool, int, float, str)
Node = dict[str, Any]


class ForeignError(TypeError):
    """There is something that no model holds; the message is the name of its type."""


def dumps(content: Any, of_ours: Collection[str]) -> bytes:
    """An archive of plain Python, NumPy's arrays and objects of some types.

    Parameters
    ----------
    content : object
        What to write.
    of_ours : collection of str
        Full names of the types that objects may have.

    Returns
    -------
    bytes

    Raises
    ------
    ForeignError
        Where there is anything else in it.

    Examples
    --------
    >>> archive = zipfile.ZipFile(io.BytesIO(dumps({"a": 1, "b": np.ones(2)}, [])))
    >>> archive.namelist()
    ['0.npy', 'schema.json']
    """
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        tree = _Tree(archive, of_ours).node(content)
        told = tree | {"protocol": PROTOCOL, "_skops_version": version("skops")}
        archive.writestr("schema.json", json.dumps(told, indent=1))
    return held.getvalue()


@dataclass
class _Tree:
    """Nodes of one archive; an object that is met twice is the same when it is read."""

    archive: zipfile.ZipFile
    of_ours: Collection[str]
    # Every object is kept, so that no two of them have one address.
    met: dict[int, Any] = field(default_factory=dict)
    n_arrays: int = 0

    def node(self, thing: Any) -> Node:
        """What is written of a thing."""
        self.met[id(thing)] = thing
        return self._writer(thing)(thing) | {"__id__": id(thing)}

    def _writer(self, thing: Any) -> Callable[[Any], Node]:
        if type(thing) in _PLAIN:
            return self._plain
        if isinstance(thing, np.ndarray | np.generic):
            return self._numbers if thing.dtype.kind != "O" else self._objects
        if isinstance(thing, np.random.RandomState):
            return self._random_state
        if type(thing) is dict:
            return self._mapping
        if type(thing) in (list, tuple):
            return self._sequence
        name = _name(type(thing))
        if name not in self.of_ours:
            raise ForeignError(name if not hasattr(thing, "__qualname__") else _name(thing))
        return self._of_ours

    def _plain(self, thing: Any) -> Node:
        return _typed(str, "JsonNode") | {"content": json.dumps(thing), "is_json": True}

    def _mapping(self, thing: dict[str, Any]) -> Node:
        return _typed(dict, "DictNode") | {
            "content": {name: self.node(held) for name, held in thing.items()},
            "key_types": self.node([]) | {"content": [_typed(type(n), "TypeNode") for n in thing]},
        }

    def _sequence(self, thing: list[Any] | tuple[Any, ...]) -> Node:
        loader = "ListNode" if isinstance(thing, list) else "TupleNode"
        return _typed(type(thing), loader) | {"content": [self.node(held) for held in thing]}

    def _numbers(self, thing: Any) -> Node:
        file = f"{self.n_arrays}.npy"
        self.n_arrays += 1
        with self.archive.open(file, "w", force_zip64=True) as opened:
            np.lib.format.write_array(opened, np.asarray(thing), allow_pickle=False)
        kind = np.ndarray if isinstance(thing, np.ndarray) else type(thing)
        return _typed(kind, "NdArrayNode") | {"type": "numpy", "file": file}

    def _objects(self, thing: Any) -> Node:
        content = self.node(thing.tolist())["content"]
        shape = self.node(thing.shape)
        return _typed(np.ndarray, "NdArrayNode") | {
            "type": "json",
            "content": content,
            "shape": shape,
        }

    def _random_state(self, thing: np.random.RandomState) -> Node:
        state = self.node(thing.get_state(legacy=False))
        return _typed(np.random.RandomState, "RandomStateNode") | {"content": state}

    def _of_ours(self, thing: Any) -> Node:
        # As `pickle` would take it apart, and never anything that has to be called.
        return _typed(type(thing), "ObjectNode") | {"content": self.node(thing.__getstate__())}


def _typed(kind: type, loader: str) -> Node:
    return {"__class__": kind.__name__, "__module__": kind.__module__, "__loader__": loader}


def _name(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
