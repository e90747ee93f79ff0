// SPDX-License-Identifier: MIT
// Draws the page of mx-prof from the JSON that is in it. All names are put into
// the document as text.
"use strict";
(function () {
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const COLOURS = {kernel: "#4a7ebb", copy: "#c0863c", call: "#7a9a5a",
                 unit: "#8a6fb0", range: "#b05a7a", packet: "#5a9aa0",
                 message: "#a0a05a", preempted: "#d06040", mark: "#555"};

function add(parent, tag, text, name) {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    parent.appendChild(e);
    return e;
}

function time(ns) {
    if (ns === null) return "-";
    for (const [unit, scale] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
        if (ns >= scale) return (ns / scale).toFixed(2) + " " + unit;
    return ns.toFixed(0) + " ns";
}

function percent(x) {
    return x === null ? "-" : (100 * x).toFixed(1) + "%";
}

function fixed(x, digits) {
    return x === null ? "-" : x.toFixed(digits);
}

function table(parent, columns, rows) {
    const t = add(add(parent, "div", undefined, "wide"), "table"), head = add(t, "tr");
    for (const [title, , kind] of columns) add(head, "th", title, kind);
    for (const row of rows) {
        const tr = add(t, "tr");
        for (const [, show, kind] of columns) {
            const td = add(tr, "td", undefined, kind), value = show(row);
            if (kind === "bar") {
                const span = add(td, "span");
                span.style.width = (5 * (value || 0)).toFixed(2) + "em";
                td.appendChild(document.createTextNode(percent(value)));
            } else {
                td.textContent = value;
            }
        }
    }
    return t;
}

// ---- timeline: the wheel zooms, dragging moves, a double click shows all

function legend(tracks) {
    const found = new Set();
    for (const t of tracks) for (const s of t.slices) found.add(s[3]);
    const box = add(page, "p", undefined, "legend");
    for (const category in COLOURS)
        if (found.has(category)) {
            const item = add(box, "span");
            add(item, "i").style.backgroundColor = COLOURS[category];
            item.appendChild(document.createTextNode(category));
        }
}

// Places of an axis: round numbers, about "count" of them.
function ticks(from, to, count) {
    const rough = (to - from) / count, unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * ([1, 2, 5].find(n => n * unit >= rough) || 10);
    const found = [];
    for (let v = Math.ceil(from / step) * step; v <= to; v += step)
        found.push(v);
    return found;
}

function timeline() {
    const tracks = data.timeline.tracks;
    if (!tracks.length) return;
    add(page, "h2", "Timeline");
    add(page, "p", "Wheel: zoom. Drag: move. Double click: all." +
        (data.timeline.left_out ? " " + data.timeline.left_out +
         " short slices are left out." : ""), "note");
    legend(tracks);
    const hint = add(page, "div");
    hint.id = "hint";
    const canvas = add(page, "canvas"), ROW = 18, LEFT = 220;
    let from = Infinity, to = -Infinity;
    for (const t of tracks)
        for (const [start, length] of t.slices) {
            from = Math.min(from, start);
            to = Math.max(to, start + length);
        }
    const all = {from, to: Math.max(to, from + 1)};
    const view = {...all};

    function x(at, width) {
        return LEFT + (at - view.from) / (view.to - view.from) * (width - LEFT);
    }

    // The first slice that may end after "at": starts are sorted.
    function first(slices, at) {
        let low = 0, high = slices.length;
        while (low < high) {
            const mid = low + high >> 1;
            if (slices[mid][0] < at) low = mid + 1; else high = mid;
        }
        while (low > 0 && slices[low - 1][0] + slices[low - 1][1] >= at) low--;
        return low;
    }

    function drawTrack(g, track, y, width) {
        g.fillStyle = "#222";
        g.fillText(track.name, 4, y + 13, LEFT - 8);
        let last = -1;
        for (let i = first(track.slices, view.from);
             i < track.slices.length; i++) {
            const [start, length, name, category] = track.slices[i];
            if (start > view.to) break;
            const left = Math.max(x(start, width), LEFT);
            const right = Math.min(x(start + length, width), width);
            if (right <= last + .3) continue; // nothing of it would be seen
            last = right;
            g.fillStyle = COLOURS[category] || "#999";
            g.fillRect(left, y + 2, Math.max(right - left, length ? 1 : 2),
                       ROW - 4);
            if (right - left > 40) {
                g.fillStyle = "#fff";
                g.save();
                g.beginPath();
                g.rect(left, y, right - left - 2, ROW);
                g.clip();
                g.fillText(name, left + 3, y + 13);
                g.restore();
            }
        }
    }

    function draw() {
        const width = canvas.clientWidth || 1000;
        const height = tracks.length * ROW + 20;
        const dots = window.devicePixelRatio || 1; // to a pixel of the page
        canvas.width = Math.round(width * dots);
        canvas.height = Math.round(height * dots);
        canvas.style.height = height + "px";
        const g = canvas.getContext("2d");
        if (!g) return;
        g.setTransform(dots, 0, 0, dots, 0, 0);
        g.font = "11px sans-serif";
        axis(g, width, height);
        tracks.forEach((t, i) => drawTrack(g, t, i * ROW, width));
    }

    function axis(g, width, height) {
        tracks.forEach((t, i) => {
            if (i % 2) {
                g.fillStyle = "#f6f7f9";
                g.fillRect(0, i * ROW, width, ROW);
            }
        });
        for (const at of ticks(view.from - all.from, view.to - all.from,
                               Math.max((width - LEFT) / 120, 1))) {
            const left = x(all.from + at, width), label = time(at * 1e3);
            g.fillStyle = "#ddd";
            g.fillRect(left, 0, 1, height - 18);
            g.fillStyle = "#666";
            g.fillText(label, Math.min(left, width - 60), height - 6);
        }
    }

    function at(event) {
        const box = canvas.getBoundingClientRect();
        const part = (event.clientX - box.left - LEFT) / (box.width - LEFT);
        return {track: tracks[Math.floor((event.clientY - box.top) / ROW)],
                when: view.from + part * (view.to - view.from), part};
    }

    function hover(event) {
        const {track, when} = at(event);
        hint.textContent = "";
        if (!track) return;
        // Three pixels beside it is near enough for what is short.
        const near = 3 * (view.to - view.from) / (canvas.clientWidth - LEFT);
        const s = [0, near].map(more => {
            const found = track.slices[first(track.slices, when - more)];
            return found && found[0] - more <= when &&
                when <= found[0] + found[1] + more ? found : null;
        }).find(found => found);
        if (s)
            hint.textContent = s[2] + (s[1] ? ": " + time(s[1] * 1e3) : "") + " at " +
                time((s[0] - all.from) * 1e3) + " (" + track.process + ")";
    }

    function move(by) {
        const length = view.to - view.from;
        view.from = Math.min(Math.max(view.from + by, all.from),
                             all.to - length);
        view.to = view.from + length;
    }

    let drag = null;
    canvas.addEventListener("wheel", event => {
        event.preventDefault();
        const {when, part} = at(event);
        const length = Math.min(Math.max((view.to - view.from) *
            (event.deltaY > 0 ? 1.25 : .8), .01), all.to - all.from);
        view.from = when - Math.max(part, 0) * length;
        view.to = view.from + length;
        move(0);
        draw();
    });
    canvas.addEventListener("mousedown", event => { drag = at(event).when; });
    window.addEventListener("mouseup", () => { drag = null; });
    canvas.addEventListener("mousemove", event => {
        if (drag === null) {
            hover(event);
        } else {
            move(drag - at(event).when);
            draw();
        }
    });
    canvas.addEventListener("dblclick", () => {
        Object.assign(view, all);
        draw();
    });
    window.addEventListener("resize", draw);
    draw();
}

// ---- roofline: what kernels reach, by how much they do with each byte

function svg(parent, tag, attributes, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) e.setAttribute(name, attributes[name]);
    if (text !== undefined) e.textContent = text;
    parent.appendChild(e);
    return e;
}

function roofline() {
    const kernels = data.kernels.filter(k => k.lane_instructions_per_byte &&
                                             k.lane_instructions_per_ns);
    if (!kernels.length) return;
    add(page, "h2", "Work and memory");
    add(page, "p", "Each circle is a kernel, as large as its part of the time. " +
        "The lines are the most that any kernel here has reached: bytes " +
        "(slope) and lane instructions (level).", "note");
    const W = 640, H = 300, EDGE = 48;
    const xs = kernels.map(k => Math.log10(k.lane_instructions_per_byte));
    const ys = kernels.map(k => Math.log10(k.lane_instructions_per_ns));
    const x0 = Math.floor(Math.min(...xs) - .2), x1 = Math.ceil(Math.max(...xs) + .2);
    const y0 = Math.floor(Math.min(...ys) - .2), y1 = Math.ceil(Math.max(...ys) + .2);
    const px = v => EDGE + (v - x0) / (x1 - x0) * (W - 2 * EDGE);
    const py = v => H - EDGE - (v - y0) / (y1 - y0) * (H - 2 * EDGE);
    const root = svg(page, "svg", {width: W, height: H,
                                   viewBox: `0 0 ${W} ${H}`, id: "roofline"});
    const line = {stroke: "#ccc"}, roof = {stroke: "#c05050", fill: "none"};
    for (let v = x0; v <= x1; v++) {
        svg(root, "line", {x1: px(v), x2: px(v), y1: py(y0), y2: py(y1), ...line});
        svg(root, "text", {x: px(v), y: H - EDGE + 16, "font-size": 11,
                           "text-anchor": "middle"}, String(10 ** v));
    }
    for (let v = y0; v <= y1; v++) {
        svg(root, "line", {x1: px(x0), x2: px(x1), y1: py(v), y2: py(v), ...line});
        svg(root, "text", {x: EDGE - 6, y: py(v) + 4, "font-size": 11,
                           "text-anchor": "end"}, String(10 ** v));
    }
    svg(root, "text", {x: W / 2, y: H - 8, "font-size": 12,
                       "text-anchor": "middle"}, "lane instructions per byte");
    svg(root, "text", {x: 14, y: 16, "font-size": 12},
        "lane instructions per ns");
    const level = Math.max(...ys);
    const slope = Math.max(...kernels.map(k => Math.log10(k.bytes_per_ns)));
    const points = [[x0, x0 + slope], [level - slope, level], [x1, level]]
        .map(([a, b]) => [Math.min(Math.max(a, x0), x1), Math.max(b, y0)]);
    svg(root, "polyline", {points: points.map(([a, b]) => px(a) + "," + py(b))
        .join(" "), ...roof});
    kernels.forEach((k, i) => {
        const c = svg(root, "circle", {cx: px(xs[i]), cy: py(ys[i]),
            r: 4 + 12 * Math.sqrt(k.share || 0), fill: "#4a7ebb",
            "fill-opacity": .6, stroke: "#27507f"});
        // Beside it, where there is room; without what it is called with.
        const aside = 7 + 12 * Math.sqrt(k.share || 0);
        const left = px(xs[i]) > W * .7, name = k.kernel.replace(/\(.*/, "");
        svg(root, "text", {x: px(xs[i]) + (left ? -aside : aside),
                           y: py(ys[i]) + 4, "font-size": 10,
                           "text-anchor": left ? "end" : "start"},
            name.length > 30 ? name.slice(0, 29) + "\u2026" : name);
        svg(c, "title", {}, k.kernel + ": " +
            k.lane_instructions_per_byte.toFixed(2) + " per byte, " +
            k.lane_instructions_per_ns.toFixed(2) + " per ns");
    });
}

// ---- tables

function kernels() {
    if (!data.kernels.length) return;
    add(page, "h2", "Kernels");
    table(page, [
        ["kernel", k => k.kernel + k.faults.map(f => " [" + f + "]").join(""),
         "name"],
        ["time", k => percent(k.share)],
        ["total", k => time(k.total_ns)],
        ["calls", k => k.calls],
        ["average", k => time(k.avg_ns)],
        ["lanes", k => k.lane_efficiency, "bar"],
        ["memory", k => k.memory_efficiency, "bar"],
        ["TLB hits", k => k.tlb_hit_rate, "bar"],
        ["transactions/request", k => fixed(k.transactions_per_request, 2)],
        ["divergent branches", k => k.divergent_branches],
    ], data.kernels).id = "kernels";
    add(page, "p", "lanes: active ones of the 64 of a warp. memory: bytes asked " +
        "for, of those in the 64-byte lines that were moved.", "note");
}

function heat(part) {
    return `rgba(230, 90, 30, ${(.9 * Math.sqrt(part)).toFixed(3)})`;
}

function sourceFile(file, most) {
    const box = add(page, "details");
    box.open = true;
    add(box, "summary", file.file);
    const t = add(add(box, "div", undefined, "wide"), "table", undefined,
                  "source");
    let before = null;
    for (const [number, text, samples, lanes] of file.lines) {
        const tr = add(t, "tr", undefined,
                       before !== null && number !== before + 1 ? "gap" : "");
        before = number;
        add(tr, "td", samples ? percent(samples / data.source.total) : "");
        add(tr, "td", lanes === null ? "" : percent(lanes));
        add(tr, "td", String(number));
        const code = add(tr, "td", text, "code");
        if (samples) code.style.backgroundColor = heat(samples / most);
    }
}

function source() {
    const s = data.source;
    if (!s.total) return;
    add(page, "h2", "Where the samples are");
    add(page, "p", "Part of all samples, active lanes, line.", "note");
    let most = 1;
    for (const f of s.files) for (const l of f.lines) most = Math.max(most, l[2]);
    s.files.forEach(f => sourceFile(f, most));
    if (s.functions.length) {
        add(page, "p", "Kernels compiled without -g or -lineinfo have no " +
            "lines.", "note");
        table(page, [["samples", f => percent(f[1] / s.total)],
                     ["lanes", f => f[2], "bar"],
                     ["without lines", f => f[0], "name"]], s.functions);
    }
}

function others() {
    if (data.copies.length) {
        add(page, "h2", "Copies");
        table(page, [["time", c => time(c.total_ns)], ["count", c => c.count],
                     ["bytes", c => c.bytes],
                     ["GB/s", c => c.bytes_per_second === null ? "-"
                         : (c.bytes_per_second / 1e9).toFixed(2)],
                     ["direction", c => c.direction, "name"]], data.copies);
    }
    if (data.calls.length) {
        add(page, "h2", "Calls");
        table(page, [["total", c => time(c.total_ns)], ["count", c => c.count],
                     ["average", c => time(c.avg_ns)],
                     ["longest", c => time(c.max_ns)],
                     ["errors", c => c.errors],
                     ["call", c => c.call, "name"]], data.calls);
    }
}

timeline();
kernels();
roofline();
source();
others();
})();
