#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test-page.py MX-PROF PROGRAM NODE: the page that mx-prof --html writes: what
is in it, what its script makes of that, and that names stay names."""
import html.parser
import json
import os
import subprocess
import sys
import tempfile

PROF, PROGRAM, NODE = sys.argv[1:4]
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.dirname(os.path.abspath(PROF)))
import page  # noqa: E402 pylint: disable=wrong-import-position
from tap import bail_out, check, end, note  # noqa: E402

EVIL = "</script><img src=x onerror=alert(1)>&\"'\u2028"
VOID = {"meta"}


class Document(html.parser.HTMLParser):
    """Tags that open and close, and what would be fetched from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.wrong, self.fetched = [], [], [], []
        self.scripts = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetched += [a for a in attrs if a[0] in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data


def read(text):
    """The page's JSON, and what its script makes of it."""
    doc = Document()
    doc.feed(text)
    doc.close()
    check("tags are balanced", not doc.open and not doc.wrong,
          (doc.open, doc.wrong))
    check("nothing is fetched", not doc.fetched, doc.fetched)
    check("no element of a name", set(doc.tags) == {
        "html", "head", "meta", "title", "style", "body", "h1", "noscript",
        "div", "script"}, doc.tags)
    with tempfile.NamedTemporaryFile("w", suffix=".html",
                                     encoding="utf-8") as f:
        f.write(text)
        f.flush()
        done = subprocess.run(
            [NODE, os.path.join(HERE, "page-dom.js"), f.name],
            stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        bail_out("the page's script fails")
    return json.loads(doc.scripts[0]), json.loads(done.stdout)


def elements(element, **like):
    """Those below an element that have these values."""
    found = [element] if all(element[k] == v for k, v in like.items()) else []
    for child in element["children"]:
        found += elements(child, **like)
    return found


def words(element):
    return element["text"] + "".join(map(words, element["children"]))


def test_run():
    with tempfile.TemporaryDirectory() as folder:
        out, tables, trace = (os.path.join(folder, n)
                              for n in ("page.html", "json", "trace"))
        done = subprocess.run(
            [PROF, "--html", out, "--json", tables, "--trace", trace, "-o",
             os.path.join(folder, "report"), "--interval", "7", PROGRAM,
             "figures"], check=False)
        check("status", done.returncode == 0)
        with open(out, encoding="utf-8") as f:
            content, made = read(f.read())
        with open(tables, encoding="utf-8") as f:
            tables = json.load(f)
        with open(trace, encoding="utf-8") as f:
            events = json.load(f)
    slices = sum(len(t["slices"]) for t in content["timeline"]["tracks"])
    check("each slice of the trace is in the timeline",
          slices == sum(e["ph"] == "X" for e in events), slices)
    rows = elements(made["page"], id="kernels")[0]["children"][1:]
    check("a row for each kernel", len(rows) == len(tables["kernels"]))
    check("in their order", all(
        words(r["children"][0]).startswith(k["kernel"])
        for r, k in zip(rows, tables["kernels"])))
    check("circles of kernels with memory", len(elements(
        made["page"], tag="circle")) == sum(
            bool(k["mem_bytes"]) for k in tables["kernels"]))
    check("names under the mouse", any(
        tables["kernels"][0]["kernel"] in h for h in made["hints"]))
    check("zoom shows less, a double click all",
          0 < made["zoomed"] < made["all"] == made["again"],
          (made["zoomed"], made["all"], made["again"]))
    files = content["source"]["files"]
    path = files[0]["file"]
    with open(path, encoding="utf-8") as f:
        source = f.read().split("\n")
    check("lines are those of the source", all(
        l[1] == source[l[0] - 1] for l in files[0]["lines"]))
    hot = max(files[0]["lines"], key=lambda l: l[2])
    code = [c for c in elements(made["page"], tag="td", name="code")
            if c["text"] == hot[1]]
    check("the hottest is shown", len(code) >= 1, hot)


def row(name):
    return {"kernel": name, "calls": 1, "total_ns": 10, "avg_ns": 10,
            "share": 1.0, "faults": [EVIL], "lane_efficiency": None,
            "transactions_per_request": None, "tlb_hit_rate": None,
            "warp_instructions": 5, "divergent_branches": 0,
            "estimated": False, "lane_instructions": 0, "mem_bytes": None,
            "mem_transactions": None}


def test_names():
    events = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0,
         "args": {"name": EVIL}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2,
         "args": {"name": EVIL}},
        {"ph": "X", "pid": 1, "tid": 2, "name": EVIL, "cat": "kernel",
         "ts": 0.0, "dur": 5.0, "args": {}}]
    hot = {EVIL: [{"file": EVIL, "line": 3, "function": EVIL, "samples": 2,
                   "share": 1.0, "lane_efficiency": 0.5, "text": EVIL},
                  {"file": "", "line": 0, "function": EVIL, "samples": 1,
                   "share": 1.0, "lane_efficiency": 0.5, "text": ""}]}
    call = {"call": EVIL, "count": 1, "total_ns": 1, "avg_ns": 1, "max_ns": 1,
            "errors": 0}
    content, made = read(page.html(page.data(
        EVIL, ([row(EVIL)], [], [call], {}, []), hot, events)))
    check("names come back", content["command"] == EVIL and
          content["kernels"][0]["kernel"] == EVIL)
    said = words(made["page"])
    check("and are text", said.count(EVIL) >= 4, said)
    check("a slice by name", any(h.startswith(EVIL) for h in made["hints"]))


def test_empty():
    content, made = read(page.html(page.data("", ([], [], [], {}, []), {},
                                             [])))
    check("nothing in, nothing out", not made["page"]["children"] and
          not content["kernels"])


def test_many():
    page.EVENTS = 10
    events = [{"ph": "X", "pid": 1, "tid": 1, "name": "n", "cat": "c",
               "ts": float(i), "dur": float(i + 1), "args": {}}
              for i in range(25)]
    line = page.timeline(events)
    kept = line["tracks"][0]["slices"]
    check("the longest are kept", len(kept) == 10 and
          line["left_out"] == 15 and min(s[1] for s in kept) == 16.0, line)


note(f"{PROF}, {NODE}")
test_run()
test_names()
test_empty()
test_many()
end()
