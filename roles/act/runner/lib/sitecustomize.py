# Makes pytest and unittest tell orch which tests ran. Loaded by python itself,
# since its folder is on the path of modules of a judged command.
import importlib.machinery
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _others():
    """Runs the sitecustomize that this one stands before."""
    rest = [p for p in sys.path if os.path.abspath(p or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


class _AfterUnittest:
    """Waits until somebody imports unittest."""

    def find_spec(self, name, path=None, target=None):
        if name != "unittest.result":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            import orch_ledger

            orch_ledger.watch_unittest(module.TestResult)

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get("ORCH_LEDGER"):
    _given = [p for p in os.environ.get("PYTEST_PLUGINS", "").split(",") if p]
    if "orch_ledger" not in _given:
        os.environ["PYTEST_PLUGINS"] = ",".join(_given + ["orch_ledger"])
    sys.meta_path.insert(0, _AfterUnittest())

import importlib.util  # noqa: E402

_others()
