"""Tells orch which tests ran: a plugin of pytest, and a watch on unittest.

It prints nothing. One JSON object a line: suite, test, result; or suite, broken.

PYTEST_DONT_REWRITE
"""

import functools
import json
import os
import sys

_dir = os.environ.get("ORCH_LEDGER", "")
_root = os.environ.get("ORCH_LEDGER_ROOT", os.getcwd())
_only = None
_files = {}


def _say(runner, **what):
    if not _dir:
        return
    try:
        if runner not in _files:
            name = "%s.%d.lines" % (runner, os.getpid())
            _files[runner] = open(os.path.join(_dir, "out", name), "a", encoding="utf-8")
        if what:
            _files[runner].write(json.dumps(what) + "\n")
        _files[runner].flush()
    except OSError:
        pass


def _begin(runner):
    """What tests start is not heard."""
    os.environ.pop("ORCH_LEDGER", None)
    plugins = os.environ.pop("PYTEST_PLUGINS", "").split(",")
    plugins = [p for p in plugins if p and p != "orch_ledger"]
    if plugins:
        os.environ["PYTEST_PLUGINS"] = ",".join(plugins)
    _say(runner)


def _names():
    global _only
    if _only is None:
        try:
            with open(os.path.join(_dir, "only"), encoding="utf-8") as f:
                _only = {(n["suite"], n["test"]) for n in json.load(f)}
        except (OSError, ValueError):
            _only = set()
    return _only


def _relative(path):
    path = os.path.relpath(os.path.realpath(path), os.path.realpath(_root))
    return path.replace(os.sep, "/")


# pytest. A worker of xdist does not tell: its reports reach the controller.

_top = ""


def _of(nodeid):
    file, _, test = nodeid.partition("::")
    return _relative(os.path.join(_top, file)), test


def pytest_configure(config):
    global _top
    _top = str(getattr(config, "rootpath", None) or config.rootdir)
    _begin("pytest")


def pytest_collection_modifyitems(config, items):
    if not _names():
        return
    keep = [i for i in items if _of(i.nodeid) in _names()]
    if keep:
        config.hook.pytest_deselected(items=[i for i in items if i not in keep])
        items[:] = keep


def pytest_collectreport(report):
    if report.failed:
        suite, _ = _of(report.nodeid)
        _say("pytest", suite=suite, broken="it can not be collected")


def pytest_runtest_logreport(report):
    suite, test = _of(report.nodeid)
    if report.failed:
        _say("pytest", suite=suite, test=test, result="fail")
    elif report.skipped:
        _say("pytest", suite=suite, test=test, result="skip")
    elif report.when == "call":
        _say("pytest", suite=suite, test=test, result="pass")


# unittest


def watch_unittest(result):
    def suite_of(test):
        module = sys.modules.get(type(test).__module__)
        file = getattr(module, "__file__", None)
        return _relative(file) if file else type(test).__module__

    def name_of(test):
        return "%s.%s" % (type(test).__name__, getattr(test, "_testMethodName", str(test)))

    def wrap(method, outcome):
        plain = getattr(result, method)

        @functools.wraps(plain)
        def told(self, test, *args, **kwargs):
            if type(test).__name__ in ("_FailedTest", "_ErrorHolder", "ModuleImportFailure"):
                _say("unittest", suite=str(test), broken="it can not be loaded or set up")
            else:
                _say("unittest", suite=suite_of(test), test=name_of(test), result=outcome)
            return plain(self, test, *args, **kwargs)

        setattr(result, method, told)

    for method, outcome in (
        ("addSuccess", "pass"),
        ("addFailure", "fail"),
        ("addError", "fail"),
        ("addSkip", "skip"),
        ("addExpectedFailure", "skip"),
        ("addUnexpectedSuccess", "fail"),
    ):
        wrap(method, outcome)

    start = result.startTestRun

    @functools.wraps(start)
    def started(self):
        _begin("unittest")
        return start(self)

    result.startTestRun = started

    subtest = result.addSubTest

    @functools.wraps(subtest)
    def added(self, test, sub, err):
        if err is not None:
            _say("unittest", suite=suite_of(test), test=name_of(test), result="fail")
        return subtest(self, test, sub, err)

    result.addSubTest = added
