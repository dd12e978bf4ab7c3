"""Runs unittest as `python -m unittest` does and writes one line for each test into the file that the first argument
names: the file that it stands in, its name and how it ended. The last line says that the run came to its end."""
import json
import os
import sys
import traceback
import unittest

report = open(sys.argv.pop(1), "w", encoding="utf-8", buffering=1)
sys.path[0] = ""  # as with -m: the folder that it runs in, and not the one of this file


def say(**what):
    report.write(json.dumps(what) + "\n")


def place(test):
    """The file and the name of a test; a test that could not be loaded has the name of its module."""
    module = sys.modules.get(type(test).__module__)
    name = getattr(test, "_testMethodName", None)
    file = getattr(module, "__file__", None) or ""
    if name is None:
        return file, str(test)
    return file, type(test).__qualname__ + "::" + name


# What assertions are, and what runs tests, before any code of the project does: what takes their place would let every
# test pass.
ASSERTIONS = {name: a for name, a in vars(unittest.TestCase).items()
              if name.startswith(("assert", "fail", "_call")) or name in ("run", "__call__", "debug")}


def replaced():
    return [name for name, a in ASSERTIONS.items() if vars(unittest.TestCase).get(name) is not a]


class Result(unittest.TextTestResult):
    def startTest(self, test):
        file, name = place(test)
        say(event="begin", file=file, test=name)
        super().startTest(test)

    def ends(self, test, end, err=None):
        file, name = place(test)
        why = "".join(traceback.format_exception_only(*err[:2])) if err else ""
        say(event="end", file=file, test=name, end=end, why=why)

    def addSuccess(self, test):
        for name in replaced():
            err = AssertionError(f"unittest.TestCase.{name} was replaced: what passes with it shows nothing")
            return self.addFailure(test, (type(err), err, None))
        self.ends(test, "passed")
        super().addSuccess(test)

    def addError(self, test, err):
        self.ends(test, "failed", err)
        super().addError(test, err)

    def addFailure(self, test, err):
        self.ends(test, "failed", err)
        super().addFailure(test, err)

    def addSkip(self, test, reason):
        self.ends(test, "skipped")
        super().addSkip(test, reason)

    def addExpectedFailure(self, test, err):
        self.ends(test, "excused")
        super().addExpectedFailure(test, err)

    def addUnexpectedSuccess(self, test):
        self.ends(test, "failed")
        super().addUnexpectedSuccess(test)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.ends(test, "failed", err)
        super().addSubTest(test, subtest, err)


class Runner(unittest.TextTestRunner):
    resultclass = Result

    def run(self, test):
        here = os.getcwd() + os.sep
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None) or ""
            if file.startswith(here):
                say(event="file", file=file)
        result = super().run(test)
        say(event="done")
        return result


class Program(unittest.TestProgram):
    def runTests(self):
        self.testRunner = Runner
        super().runTests()


sys.argv[0] = "python -m unittest"
Program(module=None)
