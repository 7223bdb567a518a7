"""What commands import while a file is read, and what they import only where it is used."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import Thread
from types import ModuleType
from typing import Any

# scikit-learn and SciPy import each for the sake of a function or a name that no fit asks for. They
# take longer than all that a fit does need.
SELDOM = (
    "asyncio",
    "numpy.f2py",
    "numpy.polynomial",
    "numpy.testing",
    "pandas",
    "scipy.optimize",
    "scipy.stats",
)


@contextmanager
def ahead(*modules: str) -> Iterator[None]:
    """Import modules on another thread; they are there when the block ends.

    What is missing is missed, and told, where it is needed.
    """
    thread = Thread(target=_import_all, args=(modules,), daemon=True)
    thread.start()
    yield
    thread.join()


def _import_all(modules: tuple[str, ...]) -> None:
    with suppress(ImportError), without_collecting(), deferred(*SELDOM):
        for name in modules:
            import_module(name)


@contextmanager
def without_collecting() -> Iterator[None]:
    """No search for garbage meanwhile: an import makes many objects, and hardly one in vain.

    They stay. The first search after it, in the middle of a fit, would look at each: 0.1 s.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


@contextmanager
def deferred(*modules: str) -> Iterator[None]:
    """Have modules that are imported in the block loaded when something of them is used.

    Whoever imports one after the block has the module itself.
    """
    absent = [name for name in modules if name not in sys.modules and find_spec(name) is not None]
    waiting = [_Deferred(name) for name in absent]
    try:
        yield
    finally:
        for module in waiting:
            module.withdraw()


class _Deferred(ModuleType):
    """Stands in for a module until something of it is used."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)
        sys.modules[name] = self
        # As an import does: a package may look there before it imports.
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, self)

    def __getattr__(self, name: str) -> Any:
        self.withdraw()
        return getattr(import_module(self.__name__), name)

    def withdraw(self) -> None:
        """Leave the place to the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        parent, _, child = self.__name__.rpartition(".")
        if parent and vars(sys.modules[parent]).get(child) is self:
            delattr(sys.modules[parent], child)
