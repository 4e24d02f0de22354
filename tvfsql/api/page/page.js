"use strict";
// One query and one step of it are shown. An operator is selected by its number in the step; all views show it.
const DATA = JSON.parse(document.getElementById("data").textContent);
const { wide: WIDE, high: HIGH, letters: LETTERS } = DATA.box;
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let query, step, at = null, view = { x: 0, y: 0, k: 1 }, order = { key: null, falling: false };

function svg(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
function element(name, text, parent, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  parent.append(made);
  return made;
}
const what = (node) => node.details.map(([key, value]) => `${key}=[${value}]`).join(", ");
const cut = (text) => (text.length > LETTERS ? text.slice(0, LETTERS - 1) + "\u2026" : text);

// ------------------------------------------------------------------ graph
function drawGraph() {
  const group = $("view"), nodes = step.nodes;
  group.replaceChildren();
  nodes.forEach((node) => node.inputs.forEach((child) => {
    const a = nodes[child], b = node, middle = (a.y + b.y + HIGH) / 2;
    const from = `${a.x + WIDE / 2} ${a.y}`, to = `${b.x + WIDE / 2} ${b.y + HIGH}`;
    svg("path", { class: "edge", d: `M${from} C${a.x + WIDE / 2} ${middle} ${b.x + WIDE / 2} ${middle} ${to}` }, group);
  }));
  nodes.forEach((node, number) => {
    const { x, y } = node;
    const box = svg("g", { class: "node" + (node.new ? " new" : ""), transform: `translate(${x} ${y})`, "data-node": number }, group);
    svg("rect", { width: WIDE, height: HIGH }, box);
    svg("text", { class: "op", x: 9, y: 19 }, box, node.operator);
    svg("text", { class: "what", x: 9, y: 36 }, box, cut(what(node)));
    const rows = node.figures && node.figures["rows out"];
    if (rows != null) svg("text", { class: "rows", x: WIDE / 2 + 7, y: -9 }, box, rows.toLocaleString("en") + " rows");
    svg("title", {}, box, `${node.operator}(${what(node)})\ncolumns: ${node.columns.join(", ")}`);
    box.addEventListener("mouseenter", () => select(number));
    box.addEventListener("click", () => select(number));
  });
  $("graph").dataset.width = Math.max(...nodes.map((each) => each.x)) + WIDE;
  $("graph").dataset.height = Math.max(...nodes.map((each) => each.y)) + HIGH;
}
function move() { $("view").setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`); }
function fit() {
  const box = $("graph").getBoundingClientRect(), data = $("graph").dataset;
  view.k = Math.min(1.4, (box.width - 30) / data.width, (box.height - 45) / data.height);
  view.x = (box.width - data.width * view.k) / 2;
  view.y = 30;
  move();
}
function zoom(by, x, y) {
  const box = $("graph").getBoundingClientRect();
  const cx = x === undefined ? box.width / 2 : x, cy = y === undefined ? box.height / 2 : y;
  const k = Math.min(4, Math.max(0.05, view.k * by));
  view = { x: cx - ((cx - view.x) * k) / view.k, y: cy - ((cy - view.y) * k) / view.k, k };
  move();
}
function neighbour(key) {
  const nodes = step.nodes, parent = nodes.findIndex((node) => node.inputs.includes(at));
  if (at === null) return 0;
  if (key === "ArrowUp") return parent;
  if (key === "ArrowDown") return nodes[at].inputs[0];
  const beside = parent < 0 ? [0] : nodes[parent].inputs;
  return beside[beside.indexOf(at) + (key === "ArrowRight" ? 1 : -1)];
}

// ------------------------------------------------------------------ one selection in all views
function select(number) {
  if (number === undefined || number < 0) return;
  at = number;
  for (const each of document.querySelectorAll("[data-node]")) each.classList.toggle("at", Number(each.dataset.node) === at);
  showSql();
}
function showSql() {
  const box = $("sql"), span = at === null ? null : step.nodes[at].span;
  box.replaceChildren();
  if (!span || span[0] < 0 || span[1] > query.sql.length) return void box.append(query.sql);
  box.append(query.sql.slice(0, span[0]));
  element("mark", query.sql.slice(...span), box);
  box.append(query.sql.slice(span[1]));
}
function search() {
  const words = $("search").value.trim().toLowerCase();
  let hits = 0;
  step.nodes.forEach((node, number) => {
    const hit = words !== "" && `${node.operator} ${what(node)} ${node.columns}`.toLowerCase().includes(words);
    hits += hit;
    document.querySelector(`g[data-node="${number}"]`).classList.toggle("hit", hit);
    document.querySelector(`tr[data-node="${number}"]`).hidden = words !== "" && !hit;
  });
  $("found").textContent = words === "" ? "" : `${hits} of ${step.nodes.length}`;
}

// ------------------------------------------------------------------ grid
function columns() {
  const figures = step.nodes.find((node) => node.figures);
  const named = figures ? Object.keys(figures.figures) : [];
  return [
    ["#", (node, number) => number],
    ["operator", (node) => node.operator],
    ...named.map((name) => [name, (node) => node.figures[name]]),
    ["columns", (node) => node.columns.length],
    ["what it does", (node) => what(node)],
  ];
}
function drawGrid() {
  const head = $("grid").tHead, body = $("grid").tBodies[0], all = columns();
  head.replaceChildren();
  body.replaceChildren();
  const heads = element("tr", undefined, head);
  for (const [name] of all) {
    const cell = element("th", name, heads);
    if (order.key === name) cell.setAttribute("aria-sort", order.falling ? "descending" : "ascending");
    cell.addEventListener("click", () => {
      order = { key: name, falling: order.key === name && !order.falling };
      drawGrid();
      search();
      select(at === null ? -1 : at);
    });
  }
  const by = all.find(([name]) => name === order.key) || all[0];
  const rows = step.nodes.map((node, number) => [node, number]);
  const value = (row) => { const found = by[1](...row); return found == null ? -Infinity : found; };
  rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a[1] - b[1]) * (order.falling ? -1 : 1));
  for (const [node, number] of rows) {
    const row = element("tr", undefined, body);
    row.dataset.node = number;
    for (const [name, of] of all) {
      const found = of(node, number);
      const shown = found == null ? "-" : typeof found === "number" ? found.toLocaleString("en") : found;
      element("td", shown, row, typeof found === "number" ? "number" : name === "what it does" ? "what" : "");
    }
    row.addEventListener("mouseenter", () => select(number));
    row.addEventListener("click", () => select(number));
  }
}

// ------------------------------------------------------------------ windows
function drawStrips() {
  $("strips").replaceChildren();
  for (const strip of query.strips) {
    const figure = element("figure", undefined, $("strips"));
    element("figcaption", strip.label, figure);
    const high = 34 + strip.windows.length * 13, x = (ms) => (ms / strip.end) * 600;
    const box = svg("svg", { viewBox: `0 0 600 ${high}` }, figure);
    const slices = strip.slices.slice(1).map((end, i) => [strip.slices[i], end]);
    for (const [from, to] of slices) svg("rect", { class: "slice", x: x(from), y: 0, width: x(to) - x(from), height: 14 }, box);
    if (!slices.length) svg("rect", { class: "slice", x: 0, y: 0, width: 600, height: 14 }, box);
    strip.windows.forEach(([from, to], i) =>
      svg("rect", { class: "window", x: x(from), y: 18 + i * 13, width: Math.max(1, x(to) - x(from) - 1), height: 9 }, box));
    const many = slices.length ? "" : ", too many to draw";
    svg("text", { x: 0, y: high - 2 }, box, `slices of ${strip.slice}${many}; ${strip.perWindow} in a whole window; the first ${strip.windows.length} windows`);
  }
}

// ------------------------------------------------------------------ what is shown
function showStep(number) {
  const last = query.steps.length - 1;
  const now = Math.min(last, Math.max(0, number));
  step = query.steps[now];
  $("step").max = last;
  $("step").value = now;
  $("stepTitle").textContent = step.title;
  $("phase").textContent = `${step.phase ? step.phase + ", " : ""}${now} of ${last}`;
  $("reason").textContent = step.reason;
  $("gone").textContent = step.gone.map((label) => "\u2212 " + label).join("\n");
  $("gone").style.whiteSpace = "pre-wrap";
  at = null;
  drawGraph();
  drawGrid();
  showSql();
  search();
  fit();
}
function showQuery(number) {
  query = DATA.queries[number];
  $("code").textContent = query.code;
  $("ast").textContent = query.ast;
  drawStrips();
  showStep(query.steps.length - 1);
}
function dark(on) {
  document.documentElement.toggleAttribute("data-dark", on);
}
$("title").textContent = DATA.title;
document.title = DATA.title;
DATA.queries.forEach((each, i) => {
  const line = each.sql.trim().split("\n")[0];
  element("option", `${i + 1}. ${line.slice(0, 60)}`, $("query")).value = i;
});
$("query").hidden = DATA.queries.length < 2;
$("query").addEventListener("change", () => showQuery(Number($("query").value)));
$("step").addEventListener("input", () => showStep(Number($("step").value)));
$("before").addEventListener("click", () => showStep(Number($("step").value) - 1));
$("after").addEventListener("click", () => showStep(Number($("step").value) + 1));
$("search").addEventListener("input", search);
$("dark").addEventListener("click", () => dark(!document.documentElement.hasAttribute("data-dark")));
$("print").addEventListener("click", () => window.print());
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(query[button.dataset.copy]);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren($(button.dataset.copy));
      button.textContent = "selected";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
}
const graph = $("graph");
let held = null;
graph.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = graph.getBoundingClientRect();
  zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
graph.addEventListener("pointerdown", (event) => { held = { x: event.clientX - view.x, y: event.clientY - view.y }; });
addEventListener("pointermove", (event) => {
  if (!held) return;
  view.x = event.clientX - held.x;
  view.y = event.clientY - held.y;
  move();
});
addEventListener("pointerup", () => { held = null; });
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const steps = { "[": -1, "]": 1 }, zooms = { "+": 1.25, "=": 1.25, "-": 0.8 };
  if (event.key in steps) showStep(Number($("step").value) + steps[event.key]);
  else if (event.key in zooms) zoom(zooms[event.key]);
  else if (event.key === "0") fit();
  else if (event.key === "d") dark(!document.documentElement.hasAttribute("data-dark"));
  else if (event.key === "/") $("search").focus();
  else if (event.key.startsWith("Arrow") && document.activeElement === graph) select(neighbour(event.key));
  else return;
  event.preventDefault();
});
addEventListener("resize", fit);
dark(matchMedia("(prefers-color-scheme: dark)").matches);
showQuery(0);
