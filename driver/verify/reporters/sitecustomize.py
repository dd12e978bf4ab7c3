"""Notes which lines of some files run, in every Python program that finds it. files.json, beside it, names the files.
Each process writes down their statements and, the first time that one runs, the line: nothing is lost by a process that
ends without a word."""
import ast
import dis
import json
import os
import sys
import threading
import types

folder = os.path.dirname(os.path.abspath(__file__))


def statements(body):
    """The first and the last line of what is carried out of statements, without what only declares a name."""
    for s in body:
        inner = [getattr(s, part, []) for part in ("body", "orelse", "finalbody")]
        inner += [part.body for part in getattr(s, "handlers", []) + getattr(s, "cases", [])]
        first = next((part[0].lineno for part in inner if part), 0)
        declares = isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try))
        if not declares:
            yield s.lineno, max(s.lineno, first - 1) if first else getattr(s, "end_lineno", s.lineno)
        if first != s.lineno:  # what stands on one line with its head cannot be told from it
            for part in inner:
                yield from statements(part)


def lines(code):
    """The lines of which the interpreter tells."""
    found = {line for _, line in dis.findlinestarts(code) if line}
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            found |= lines(part)
    return found


def watch():
    with open(os.path.join(folder, "files.json"), encoding="utf-8") as f:
        names = json.load(f)
    report = open(os.path.join(folder, "ran-%d-%s.jsonl" % (os.getpid(), os.urandom(4).hex())), "a", buffering=1)
    files, known = {}, {}
    for name in names:
        try:
            with open(name, "rb") as f:
                text = f.read()
            told = lines(compile(text, name, "exec"))
            code = [s for s in statements(ast.parse(text).body) if s[0] in told]
        except (OSError, SyntaxError, ValueError):
            continue
        files[os.path.realpath(name)] = (name, set())
        report.write(json.dumps({"file": name, "code": code}) + "\n")

    def of(code):
        path = code.co_filename
        if path not in known:
            known[path] = files.get(os.path.realpath(path))
        return known[path]

    def note(file, number):
        name, seen = file
        if number not in seen:
            seen.add(number)
            report.write(json.dumps({"file": name, "line": number}) + "\n")

    def line(frame, event, arg):
        if event == "line":
            note(of(frame.f_code), frame.f_lineno)
        return line

    def call(frame, event, arg):
        return line if of(frame.f_code) else None

    monitoring = getattr(sys, "monitoring", None)
    tool = next((n for n in (3, 4) if monitoring and monitoring.get_tool(n) is None), None)
    if tool is None:
        threading.settrace(call)
        sys.settrace(call)
        return

    def came(code, number):
        file = of(code)
        if file:
            note(file, number)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "lines")
    monitoring.register_callback(tool, monitoring.events.LINE, came)
    monitoring.set_events(tool, monitoring.events.LINE)


# The module of the same name that the machine may have is not forgotten.
this = sys.modules.pop(__name__)
sys.path[:] = [p for p in sys.path if os.path.abspath(p) != folder]
try:
    import sitecustomize  # noqa: F401
except ImportError:
    pass
sys.modules[__name__] = this
watch()
