// SPDX-License-Identifier: MIT
// node page-dom.js PAGE.html: runs the script of a page of mx-prof in a small
// document of its own and prints, as JSON, what it has made: elements with their
// texts, what was drawn on the canvas, what the mouse shows.
"use strict";
const fs = require("fs"), vm = require("vm");

class Element {
    constructor(tag) {
        this.tag = tag;
        this.children = [];
        this.style = {};
        this.attributes = {};
        this.handlers = {};
        this.own = "";
        this.clientWidth = 1000;
    }
    set textContent(text) { this.children = []; this.own = String(text); }
    get textContent() {
        return this.own + this.children.map(c => c.textContent).join("");
    }
    set innerHTML(text) { throw new Error("the page makes markup of text"); }
    appendChild(child) { this.children.push(child); }
    setAttribute(name, value) { this.attributes[name] = String(value); }
    addEventListener(type, handler) { this.handlers[type] = handler; }
    getBoundingClientRect() {
        return {left: 0, top: 0, width: 1000, height: this.height};
    }
    getContext() {
        const note = (kind, x, y, w, h) => drawn.push([kind, x, y, w, h]);
        return {fillRect: (x, y, w, h) => note("rect", x, y, w, h),
                fillText: text => note("text", text), save() {}, restore() {},
                beginPath() {}, rect() {}, clip() {}, setTransform() {}};
    }
    describe() {
        return {tag: this.tag, id: this.id || "", name: this.className || "",
                text: this.own, attributes: this.attributes,
                children: this.children.map(c => c.describe())};
    }
}

const html = fs.readFileSync(process.argv[2], "utf8");
const script = /<script>\n([^]*?)<\/script>/.exec(html)[1];
const json = /<script type="application\/json" id="data">([^]*?)<\/script>/
    .exec(html)[1];
let drawn = [];
const page = new Element("div"), data = new Element("script");
data.textContent = json;
const document = {
    getElementById: id => ({page, data})[id],
    createElement: tag => new Element(tag),
    createElementNS: (space, tag) => new Element(tag),
    createTextNode: text => Object.assign(new Element("#text"), {own: text}),
};
const window = new Element("window");
vm.runInNewContext(script, {document, window});

function find(element, test) {
    return [...(test(element) ? [element] : []),
            ...element.children.flatMap(c => find(c, test))];
}

const canvas = find(page, e => e.tag === "canvas")[0];
const hint = find(page, e => e.id === "hint")[0];
const result = {page: page.describe(), drawn};
if (canvas) {
    const fire = (type, event) =>
        canvas.handlers[type]({preventDefault() {}, ...event});
    // What is under the mouse, along each track.
    result.hints = [];
    for (let y = 9; y < canvas.height - 20; y += 18)
        for (let x = 221; x < 1000; x += 3) {
            fire("mousemove", {clientX: x, clientY: y});
            if (hint.textContent) result.hints.push(hint.textContent);
        }
    const count = () => {
        drawn.length = 0;
        fire("dblclick", {});
        return drawn.filter(d => d[0] === "rect").length;
    };
    result.all = count();
    for (let i = 0; i < 40; i++) { // to the very beginning
        drawn.length = 0;
        fire("wheel", {clientX: 221, clientY: 9, deltaY: -1});
    }
    result.zoomed = drawn.filter(d => d[0] === "rect").length;
    result.again = count();
}
console.log(JSON.stringify(result));
