"use strict";
// One query and one step of it are shown. An operator is selected by its place in the step; all views show it.
const DATA = JSON.parse(document.getElementById("data").textContent);
const { wide: WIDE, head: HEAD, line: LINE, figures: FIGURES } = DATA.card;
const SMALLEST = 0.5, LARGEST = 2.5, OUT = 54, MARGIN = 3, NOTABLE = 0.25;
const CLASSES = { source: "source", "row by row": "rows", shuffle: "shuffle", "gathers rows": "gather", state: "state", sink: "sink" };
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let query, step, at = 0, scale = null, order = { key: null, falling: false };

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
const count = (n) => n.toLocaleString("en");
function size(bytes) {
  let unit = 0;
  for (; bytes >= 1024 && unit < UNITS.length - 1; unit++) bytes /= 1024;
  return `${bytes.toFixed(unit ? 1 : 0)} ${UNITS[unit]}`;
}
const time = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
const percent = (part) => `${Math.round(100 * part)}%`;
// [name of a figure in the data, its head, its text]
const SHOWN = [
  ["rows in", "rows in", count], ["rows out", "rows out", count], ["ms", "time", time], ["shuffle bytes", "shuffle", size],
  ["spill bytes", "spill", size], ["state rows", "state rows", count], ["state bytes", "state", size], ["late rows", "late rows", count],
  ["partitions", "partitions", count], ["skew", "skew", (n) => n.toFixed(1)],
];
const what = (node) => node.details.map(([key, value]) => `${key}=[${value}]`).join(", ");
const figure = (node, name) => (node.figures && node.figures[name] != null ? node.figures[name] : null);
const class_of = (node) => CLASSES[node.kind];

// ------------------------------------------------------------------ costs
// The share of each operator in the time of all, or where no times are known in their state.
function costs() {
  for (const name of ["ms", "state bytes"]) {
    const all = step.nodes.reduce((sum, node) => sum + (figure(node, name) || 0), 0);
    if (all > 0) return { name, all, of: (node) => (figure(node, name) === null ? null : figure(node, name) / all) };
  }
  return { name: null, all: 0, of: () => null };
}
function bottleneck() {
  const cost = costs();
  if (cost.name !== "ms") return -1;
  const shares = step.nodes.map((node) => cost.of(node) || 0), most = Math.max(...shares);
  return most >= NOTABLE ? shares.indexOf(most) : -1;
}
function showVerdict() {
  const box = $("verdict"), cost = costs(), top = bottleneck(), counts = new Map();
  for (const node of step.nodes) counts.set(node.kind, (counts.get(node.kind) || 0) + 1);
  box.replaceChildren();
  if (top >= 0) {
    const node = step.nodes[top];
    box.append("Bottleneck: ");
    element("button", node.operator, box).addEventListener("click", () => select(top, true));
    box.append(` takes ${percent(cost.of(node))} of the operators' time, ${time(figure(node, "ms"))}. It ${node.does}.`);
  } else if (cost.name === "ms") {
    box.append(`No operator takes a quarter of the operators' time, ${time(cost.all)}.`);
  } else {
    const source = counts.get("source") || 0, shuffles = counts.get("shuffle") || 0;
    const some = (n, noun) => `${n || "no"} ${noun}${n === 1 ? "" : "s"}`;
    box.append(`${some(step.nodes.length, "operator")}: ${some(source, "source")}, ${some(shuffles, "shuffle")}.`);
    if (!document.body.classList.contains("live")) box.append(query.mode === "batch" ? " EXPLAIN ANALYZE shows what each of them costs." : "");
  }
  $("legend").replaceChildren();
  for (const [kind, name] of Object.entries(CLASSES))
    if (counts.has(kind)) element("span", `${kind} ${counts.get(kind)}`, element("li", undefined, $("legend")), `kind ${name}`);
}

// ------------------------------------------------------------------ graph
function drawGraph() {
  const box = $("graph"), nodes = step.nodes, cost = costs(), top = bottleneck();
  box.replaceChildren();
  const edges = svg("g", { class: "edges" }, box), most = Math.max(1, ...nodes.map((node) => figure(node, "rows out") || 0));
  nodes.forEach((node) => node.inputs.forEach((child, i) => {
    const input = nodes[child], part = (i + 1) / (node.inputs.length + 1);
    drawEdge(edges, input.x + WIDE / 2, input.y + input.high, node.x + WIDE * (node.inputs.length > 1 ? 0.25 + part / 2 : 0.5), node.y, figure(input, "rows out"), most);
  }));
  const last = nodes[0], written = last.kind === "sink";
  const wide = Math.max(...nodes.map((each) => each.x)) + WIDE, high = Math.max(...nodes.map((each) => each.y + each.high));
  if (!written) {
    drawEdge(edges, last.x + WIDE / 2, last.y + last.high, last.x + WIDE / 2, last.y + last.high + 34, figure(last, "rows out"), most);
    svg("text", { x: last.x + WIDE / 2, y: last.y + last.high + 48, style: "text-anchor: middle" }, edges, query.result);
  }
  nodes.forEach((node, number) => drawCard(node, number, box, cost.of(node), cost.name, number === top));
  const bottom = written ? high : Math.max(high, last.y + last.high + OUT);
  box.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${wide + 2 * MARGIN} ${bottom + 2 * MARGIN}`);
  Object.assign(box.dataset, { wide: wide + 2 * MARGIN, high: bottom + 2 * MARGIN });
}
function drawEdge(parent, x1, y1, x2, y2, rows, most) {
  const thick = rows === null ? 1.5 : 1.5 + (5 * Math.log1p(rows)) / Math.log1p(most), end = y2 - 9, middle = (y1 + end) / 2;
  svg("path", { d: `M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${end}`, "stroke-width": thick.toFixed(1) }, parent);
  svg("polygon", { points: `${x2 - 6},${end - 1} ${x2 + 6},${end - 1} ${x2},${y2}` }, parent);
  if (rows !== null) svg("text", { x: (x1 + x2) / 2 + 9, y: middle + 4 }, parent, `${count(rows)} rows`);
}
function drawCard(node, number, parent, share, of, isTop) {
  const classes = `node ${class_of(node)}${node.new ? " new" : ""}${isTop ? " top" : ""}`;
  const box = svg("g", { class: classes, transform: `translate(${node.x} ${node.y})`, "data-node": number, role: "button", tabindex: -1 }, parent);
  box.setAttribute("aria-label", `${node.number}. ${node.operator}, ${node.kind}: ${node.does}${isTop ? "; bottleneck" : ""}`);
  svg("rect", { class: "card", width: WIDE, height: node.high, rx: 8 }, box);
  svg("rect", { class: "band", width: 6, height: node.high, rx: 3 }, box);
  const name = svg("text", { class: "op", x: 17, y: 21 }, box);
  svg("tspan", { class: "number" }, name, `${node.number}  `);
  svg("tspan", {}, name, node.operator);
  svg("text", { class: "sort", x: WIDE - 11, y: 21 }, box, isTop ? "bottleneck" : node.kind);
  node.lines.forEach((line, i) => svg("text", { class: "does", x: 17, y: HEAD + 11 + i * LINE }, box, line));
  if (share !== null) {
    const y = node.high - 14, room = 110, heat = share >= 0.4 ? " hot" : share >= 0.15 ? " warm" : "";
    svg("rect", { class: "track", x: 17, y: y - 7, width: room, height: 7, rx: 3 }, box);
    svg("rect", { class: `heat${heat}`, x: 17, y: y - 7, width: Math.max(2, room * share), height: 7, rx: 3 }, box);
    const text = of === "ms" ? time(node.figures.ms) : `${size(node.figures[of])} of state`;
    svg("text", { class: "figure", x: 17 + room + 9, y: y + 1 }, box, `${percent(share)}, ${text}`);
  }
  svg("title", {}, box, `${node.operator}(${what(node)})`);
  box.addEventListener("click", () => select(number, true));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { select(number, true); event.preventDefault(); }
  });
}
function resize() {
  const { wide, high } = $("graph").dataset;
  document.body.classList.toggle("wide", wide * 0.85 > innerWidth * 0.55);
  document.body.style.setProperty("--plan", `${Math.max(380, Math.min(Number(wide) + 46, innerWidth * 0.6))}px`);
  const room = $("scroll").clientWidth - 30, k = scale === null ? Math.max(SMALLEST, Math.min(1, room / wide)) : scale;
  $("graph").setAttribute("width", wide * k);
  $("graph").setAttribute("height", high * k);
}
function zoom(by) {
  const now = $("graph").getAttribute("width") / $("graph").dataset.wide;
  scale = by === null ? null : Math.min(LARGEST, Math.max(0.2, now * by));
  resize();
}
function neighbour(key) {
  const nodes = step.nodes, below = nodes.findIndex((node) => node.inputs.includes(at));
  if (key === "ArrowDown") return below;
  if (key === "ArrowUp") return nodes[at].inputs[0];
  const beside = below < 0 ? [0] : nodes[below].inputs;
  return beside[beside.indexOf(at) + (key === "ArrowRight" ? 1 : -1)];
}

// ------------------------------------------------------------------ one selection in all views
function select(number, focus) {
  if (number === undefined || number < 0) return;
  at = number;
  for (const each of document.querySelectorAll("[data-node]")) each.classList.toggle("at", Number(each.dataset.node) === at);
  for (const each of document.querySelectorAll("g.node")) each.setAttribute("tabindex", Number(each.dataset.node) === at ? 0 : -1);
  if (focus) document.querySelector(`g.node[data-node="${at}"]`).focus({ preventScroll: true });
  showSelected();
  showSql();
}
function showSelected() {
  const box = $("selected"), node = step.nodes[at];
  box.replaceChildren();
  element("h3", `${node.number}  ${node.operator}`, box);
  element("span", node.kind, box, `kind ${class_of(node)}`);
  element("p", `${node.does}.`, box);
  const list = element("dl", undefined, box), term = (name, value) => { element("dt", name, list); element("dd", value, list); };
  for (const [name, head, text] of SHOWN) if (figure(node, name) !== null) term(head, text(figure(node, name)));
  for (const [name, value] of node.details) term(name, value);
  term("columns out", node.columns.join(", ") || "none");
}
function showSql() {
  const box = $("sql"), span = step.nodes[at].span;
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
    const hit = words !== "" && `${node.operator} ${node.kind} ${node.does} ${what(node)} ${node.columns}`.toLowerCase().includes(words);
    hits += hit;
    document.querySelector(`g[data-node="${number}"]`).classList.toggle("hit", hit);
    document.querySelector(`tr[data-node="${number}"]`).hidden = words !== "" && !hit;
  });
  $("found").textContent = words === "" ? "" : `${hits} of ${step.nodes.length}`;
}

// ------------------------------------------------------------------ table
// [head, its value for sorting, its text]
function columns() {
  const used = SHOWN.filter(([name]) => step.nodes.some((node) => figure(node, name) !== null));
  return [
    ["#", (node) => node.number, (node) => count(node.number)],
    ["operator", (node) => node.operator, (node) => node.operator],
    ["kind", (node) => node.kind, (node) => node.kind],
    ...used.map(([name, head, text]) => [head, (node) => figure(node, name), (node) => (figure(node, name) === null ? "-" : text(figure(node, name)))]),
    ["what it does", (node) => node.does, (node) => node.does],
  ];
}
function drawGrid() {
  const head = $("grid").tHead, body = $("grid").tBodies[0], all = columns();
  head.replaceChildren();
  body.replaceChildren();
  const heads = element("tr", undefined, head), of = (i) => (i === 1 ? "op" : i === 2 ? `kind` : i === all.length - 1 ? "does" : "number");
  all.forEach(([name], i) => {
    const cell = element("th", name, heads, of(i) === "number" ? "number" : "");
    cell.dataset.sorts = name;
    cell.tabIndex = 0;
    if (order.key === name) cell.setAttribute("aria-sort", order.falling ? "descending" : "ascending");
    const sort = () => {
      order = { key: name, falling: order.key === name && !order.falling };
      drawGrid();
      search();
      select(at);
    };
    cell.addEventListener("click", sort);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
  const by = (all.find(([name]) => name === order.key) || all[0])[1];
  const rows = step.nodes.map((node, number) => [node, number]);
  const value = ([node]) => { const found = by(node); return found === null ? -Infinity : found; };
  rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a[0].number - b[0].number) * (order.falling ? -1 : 1));
  for (const [node, number] of rows) {
    const row = element("tr", undefined, body, class_of(node));
    row.dataset.node = number;
    all.forEach(([, , text], i) => element("td", text(node), row, of(i)));
    row.addEventListener("click", () => select(number));
  }
}

// ------------------------------------------------------------------ windows
function drawStrips() {
  $("strips").replaceChildren();
  for (const strip of query.strips) {
    const drawn = element("figure", undefined, $("strips")), slices = strip.slices.slice(1).map((end, i) => [strip.slices[i], end]);
    element("figcaption", strip.label, drawn);
    const high = 18 + strip.windows.length * 13, x = (ms) => (ms / strip.end) * 600;
    const box = svg("svg", { viewBox: `0 0 600 ${high}`, role: "img", "aria-label": `the first ${strip.windows.length} windows over their slices` }, drawn);
    for (const [from, to] of slices) svg("rect", { class: "slice", x: x(from), y: 0, width: x(to) - x(from), height: 14 }, box);
    if (!slices.length) svg("rect", { class: "slice", x: 0, y: 0, width: 600, height: 14 }, box);
    strip.windows.forEach(([from, to], i) =>
      svg("rect", { class: "window", x: x(from), y: 18 + i * 13, width: Math.max(1, x(to) - x(from) - 1), height: 9 }, box));
    const many = slices.length ? "" : ", too many to draw";
    element("p", `Slices of ${strip.slice}${many}; ${strip.perWindow} in a whole window; the first ${strip.windows.length} windows.`, drawn, "keys");
  }
}

// ------------------------------------------------------------------ what is shown
function showStep(number) {
  const last = query.steps.length - 1, now = Math.min(last, Math.max(0, number));
  step = query.steps[now];
  $("step").value = now;
  $("phase").textContent = step.phase ? `phase ${step.phase}` : "";
  $("reason").textContent = step.reason;
  $("gone").textContent = step.gone.map((label) => "\u2212 " + label).join("\n");
  $("gone").hidden = !step.gone.length;
  $("change").hidden = !step.phase;
  at = 0;
  redraw();
}
function redraw() {
  showVerdict();
  drawGraph();
  drawGrid();
  search();
  select(at);
  resize();
}
function showQuery(number) {
  query = DATA.queries[number];
  $("mode").textContent = query.mode;
  $("code").textContent = query.code;
  $("ast").textContent = query.ast;
  $("step").replaceChildren();
  query.steps.forEach((each, i) => { element("option", each.title, $("step")).value = i; });
  [...$("queries").children].forEach((each, i) => (i === number ? each.setAttribute("aria-current", "true") : each.removeAttribute("aria-current")));
  drawStrips();
  showStep(query.steps.length - 1);
}
function dark(on) {
  document.documentElement.toggleAttribute("data-dark", on);
  $("dark").textContent = on ? "Light" : "Dark";
  $("dark").setAttribute("aria-pressed", on);
}
$("title").textContent = DATA.title;
document.title = DATA.title;
if (DATA.queries.length > 1) DATA.queries.forEach((each, i) => element("button", each.name, $("queries")).addEventListener("click", () => showQuery(i)));
const stepNow = () => Number($("step").value), isDark = () => document.documentElement.hasAttribute("data-dark");
$("step").addEventListener("change", () => showStep(stepNow()));
$("before").addEventListener("click", () => showStep(stepNow() - 1));
$("after").addEventListener("click", () => showStep(stepNow() + 1));
$("smaller").addEventListener("click", () => zoom(0.8));
$("larger").addEventListener("click", () => zoom(1.25));
$("fit").addEventListener("click", () => zoom(null));
$("search").addEventListener("input", search);
$("dark").addEventListener("click", () => dark(!isDark()));
$("print").addEventListener("click", () => window.print());
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(query[button.dataset.copy]);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($(button.dataset.copy));
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const steps = { "[": -1, "]": 1 }, zooms = { "+": 1.25, "=": 1.25, "-": 0.8, 0: null };
  if (event.key in steps) showStep(stepNow() + steps[event.key]);
  else if (event.key in zooms) zoom(zooms[event.key]);
  else if (event.key === "d") dark(!isDark());
  else if (event.key === "/") $("search").focus();
  else if (event.key.startsWith("Arrow") && document.activeElement.matches("g.node")) select(neighbour(event.key), true);
  else return;
  event.preventDefault();
});
addEventListener("resize", resize);
dark(matchMedia("(prefers-color-scheme: dark)").matches);
showQuery(0);
