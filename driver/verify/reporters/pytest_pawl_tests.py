"""A plugin of pytest that writes one line for each test into the file that PAWL_TESTS names: the file that it stands in,
its name and how it ended. The last line says that the run came to its end."""
import json
import os
import unittest

import _pytest.python
import _pytest.reports
import _pytest.runner
import pytest

# The workers of pytest-xdist tell the process that started them, which reports for all.
worker = "PYTEST_XDIST_WORKER" in os.environ
report = open(os.devnull if worker else os.environ["PAWL_TESTS"], "w", encoding="utf-8", buffering=1)


def say(**what):
    report.write(json.dumps(what) + "\n")


def name(nodeid):
    file, _, test = nodeid.partition("::")
    return file, test


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        file, test = name(item.nodeid)
        say(event="begin", file=file, test=test)


def pytest_collectreport(report):
    if report.nodeid and "::" not in report.nodeid:
        say(event="file", file=report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    file, test = name(report.nodeid)
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        say(event="end", file=file, test=test, end="failed", why=crash.message if crash else str(report.longrepr))
    elif report.skipped:
        say(event="end", file=file, test=test, end="excused" if hasattr(report, "wasxfail") else "skipped")
    elif report.when == "call":
        say(event="end", file=file, test=test, end="passed")


# What runs tests and makes their reports, before any code of the project does. What takes its place would let every test
# pass, and so would a plugin that comes with a test.
PARTS = [(of, part, getattr(of, part)) for of, part in (
    (pytest.Item, "ihook"), (pytest.Function, "runtest"), (pytest.Function, "setup"), (pytest.Class, "collect"),
    (pytest.Module, "collect"), (_pytest.runner, "runtestprotocol"), (_pytest.runner, "call_and_report"),
    (_pytest.runner, "pytest_runtest_call"), (_pytest.runner, "pytest_runtest_makereport"),
    (_pytest.runner.CallInfo, "from_call"), (_pytest.reports.TestReport, "from_item_and_call"),
    (_pytest.python, "pytest_pyfunc_call"), (pytest, "raises"), (pytest, "fail"), (pytest, "approx"),
    (unittest.TestCase, "run"), (unittest.TestCase, "__call__"), (unittest.TestCase, "assertEqual"),
    (unittest.TestCase, "assertTrue"),
) if hasattr(of, part)]
known = None


def plugins(config):
    """The files of the plugins. Those of conftest.py come when their folder is collected."""
    files = {getattr(p, "__file__", None) for p in config.pluginmanager.get_plugins()}
    return {f for f in files if f and os.path.basename(f) != "conftest.py"}


def pytest_sessionstart(session):
    global known
    known = plugins(session.config)


def pytest_sessionfinish(session):
    replaced = [part for of, part, was in PARTS if getattr(of, part, None) != was]
    replaced += sorted(plugins(session.config) - (known or set()))
    if replaced:
        print("\nwhat runs the tests was replaced by what was tested: " + ", ".join(replaced))
        return
    say(event="done")
