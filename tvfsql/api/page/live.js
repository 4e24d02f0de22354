
// ------------------------------------------------------------------ running streams
// Each stream is a row of cards: a number as of its last micro-batch, and a line over the micro-batches before.
const ASKED_EVERY = 1000, LINE_WIDE = 150, LINE_HIGH = 34, LISTED = 12;
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];
const count = (n) => n.toLocaleString("en");
function size(bytes) {
  let unit = 0;
  for (; bytes >= 1024 && unit < SIZES.length - 1; unit++) bytes /= 1024;
  return `${bytes.toFixed(unit ? 1 : 0)} ${SIZES[unit]}`;
}
function span(seconds) {
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]])
    if (Math.abs(seconds) >= 2 * length) return `${count(Math.round(seconds / length))} ${unit}`;
  return `${seconds.toFixed(1)} s`;
}
// [title, value of a micro-batch (undefined: it has none), text of the last value, small text below]
const CARDS = [
  ["rows in", (batch) => batch.new_rows_in, (n, last) => count(last.rows_in), (n, last) => `${count(last.rate)}/s`],
  ["rows out", (batch) => batch.new_rows_out, (n, last) => count(last.rows_out), (n) => `${count(n)} in this micro-batch`],
  ["watermark lag", (batch) => batch.watermark_lag_seconds, span, (n, last) => last.clocks.watermark],
  ["open slices", (batch) => batch.open_slices, count, () => ""],
  ["state", (batch) => batch.state_bytes, size, (n, last) => `${count(last.state_rows)} rows`],
  ["late rows", (batch) => batch.late_rows_dropped, count, (n, last) => `${count(last.new_late)} in this micro-batch`],
  ["micro-batch", (batch) => batch.last_micro_batch_seconds, span, (n, last) => `number ${count(last.micro_batch)}`],
];
const live = document.createElement("section");
live.id = "live";
document.querySelector("main").before(live);

function withDifferences(batches) {
  return batches.map((batch, i) => {
    const before = i ? batches[i - 1] : null;
    const since = (name) => (before ? batch[name] - before[name] : batch[name]);
    const new_rows_in = since("rows_in"), seconds = before ? batch.time - before.time : batch.last_micro_batch_seconds;
    return { ...batch, new_rows_in, new_rows_out: since("rows_out"), new_late: since("late_rows_dropped"),
      rate: Math.round(new_rows_in / Math.max(seconds, 0.001)) };
  });
}
function line(values, title, parent) {
  if (!values.length) return;
  const low = Math.min(0, ...values), high = Math.max(...values, low + 1e-9);
  const x = (i) => (values.length < 2 ? LINE_WIDE : (i / (values.length - 1)) * LINE_WIDE);
  const y = (value) => LINE_HIGH - 2 - ((value - low) / (high - low)) * (LINE_HIGH - 4);
  const box = svg("svg", { viewBox: `0 0 ${LINE_WIDE} ${LINE_HIGH}`, role: "img", "aria-label": `${title} by micro-batch` }, parent);
  const points = values.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
  svg("path", { class: "area", d: `M0 ${LINE_HIGH} L${points.join(" L")} L${LINE_WIDE} ${LINE_HIGH} Z` }, box);
  svg("path", { class: "line", d: `M${points.join(" L")}` }, box);
}
function drawStream(stream, active) {
  const batches = withDifferences(stream.batches), last = batches[batches.length - 1];
  const box = element("div", undefined, live, "stream");
  const title = element("h2", `stream ${stream.name}`, box);
  element("span", active ? "running" : "ended", title, active ? "on" : "off");
  const cards = element("div", undefined, box, "cards");
  for (const [name, value, text, below] of CARDS) {
    const values = batches.map(value).filter((each) => each !== undefined);
    if (value(last) === undefined && !values.length) continue;
    const now = value(last), card = element("div", undefined, cards, "card");
    element("div", name, card, "name");
    element("div", now === undefined ? "end of input" : text(now, last), card, "value");
    element("div", now === undefined ? "" : below(now, last), card, "below");
    line(values, name, card);
  }
  drawOperators(stream, batches, box);
  drawChannels(stream, batches, box);
  const table = folded(stream, `the last ${Math.min(LISTED, batches.length)} micro-batches`, "micro-batches", false, box,
    ["number", "ended", "rows in", "rows out", "late", "seconds", "watermark", "state rows"]);
  for (const batch of batches.slice(-LISTED).reverse())
    cells([batch.micro_batch, batch.clocks.time, batch.new_rows_in, batch.new_rows_out, batch.new_late,
      batch.last_micro_batch_seconds, batch.clocks.watermark, batch.state_rows], table);
}
const toggled = new Set(); // the tables that are not as they are at first
function folded(stream, title, kind, isOpen, parent, heads) {
  const details = element("details", undefined, parent), key = `${kind} ${stream.name}`;
  details.open = isOpen !== toggled.has(key);
  details.addEventListener("toggle", () => toggled[details.open === isOpen ? "delete" : "add"](key));
  element("summary", title, details);
  const table = element("table", undefined, details), row = element("tr", undefined, table);
  for (const head of heads) element("th", head, row);
  return table;
}
function cells(values, table) {
  const row = element("tr", undefined, table);
  for (const value of values)
    element("td", value == null ? "-" : typeof value === "number" ? count(value) : value, row, typeof value === "number" ? "number" : "");
  return row;
}

// ------------------------------------------------------------------ operators and channels of a stream
// [name, value of what an operator has counted since the run began]
const FIGURES = [
  ["rows in", (found) => found.rows_in],
  ["rows out", (found) => found.rows_out],
  ["late rows", (found) => found.late],
  ["state rows", (found) => found.state_rows],
  ["state bytes", (found) => found.state_bytes],
];
const WITHOUT = "The other operators have no state. Spark computes them together with their neighbours, and its progress "
  + "has no rows of them; EXPLAIN ANALYZE has.";
const physical = (number) => DATA.queries[number].steps[DATA.queries[number].steps.length - 1];
function operatorsOf(stream) {
  const found = new Map();
  const add = ([query, node], of) => { if (query >= 0) found.set(`${query} ${node}`, { query, node, of }); };
  if (stream.result) add(stream.result, (batch) => ({ rows_out: batch.result }));
  (stream.tables || []).forEach((place, i) => add(place, (batch) => ({ rows_out: batch.tables[i] })));
  for (const [name, place] of Object.entries(stream.operators || {})) add(place, (batch) => batch.operators[name] || {});
  return [...found.values()].sort((a, b) => a.query - b.query || b.node - a.node);
}
function perBatch(batches, value) {
  const totals = batches.map((batch) => value(batch) || 0);
  return totals.map((total, i) => total - (i ? totals[i - 1] : 0)).slice(batches[0].micro_batch ? 1 : 0);
}
function drawOperators(stream, batches, box) {
  const last = batches[batches.length - 1], operators = operatorsOf(stream);
  if (!operators.length) return;
  const table = folded(stream, "operators", "operators", true, box,
    ["operator", ...FIGURES.map(([name]) => name), "open slices", "watermark", "rows per micro-batch", "state"]);
  for (const { query, node, of } of operators) {
    const shown = physical(query).nodes[node], found = of(last);
    const row = cells([shown.operator, ...FIGURES.map(([, value]) => value(found)), found.open_slices, found.clock], table);
    row.firstChild.title = what(shown);
    row.addEventListener("mouseenter", () => { if (step === physical(query)) select(node); });
    const rows = found.rows_in === undefined ? "rows_out" : "rows_in";
    line(perBatch(batches, (batch) => of(batch)[rows]), `${shown.operator}: rows`, element("td", undefined, row, "over"));
    const state = element("td", undefined, row, "over");
    if (found.state_bytes !== undefined) line(batches.map((batch) => of(batch).state_bytes || 0), `${shown.operator}: state`, state);
  }
  element("p", WITHOUT, table.parentElement, "keys");
}
function drawChannels(stream, batches, box) {
  const last = batches[batches.length - 1];
  const operators = operatorsOf(stream).filter(({ of }) => (of(last).channels || []).length);
  if (!operators.length) return;
  const table = folded(stream, "channels", "channels", true, box,
    ["operator", "input", "partition", "watermark", "lag", "status", "lag over time"]);
  for (const { query, node, of } of operators)
    for (const channel of of(last).channels) {
      const lag = (batch) => {
        const same = (of(batch).channels || []).find((one) => one.input === channel.input && one.partition === channel.partition);
        return same && same.watermark !== null ? batch.time - same.watermark : null;
      };
      const now = lag(last), partition = channel.partition === null ? "whole input" : channel.partition === "*" ? "all" : channel.partition;
      const row = cells([physical(query).nodes[node].operator, channel.input, partition,
        channel.clock, now === null ? null : span(now), channel.status], table);
      line(batches.map(lag).filter((each) => each !== null), `channel ${partition}: lag`, element("td", undefined, row, "over"));
    }
}
function drawOnPlan(streams) {
  for (const stream of streams)
    for (const { query, node, of } of operatorsOf(stream)) {
      const found = of(stream.batches[stream.batches.length - 1]);
      for (const each of physical(query).nodes)
        each.figures = each.figures || Object.fromEntries(FIGURES.map(([name]) => [name, null]));
      physical(query).nodes[node].figures = Object.fromEntries(FIGURES.map(([name, value]) => [name, value(found)]));
    }
  if (step !== physical(DATA.queries.indexOf(query))) return;
  const selected = at;
  drawGraph();
  drawGrid();
  search();
  select(selected === null ? -1 : selected);
}
let shownFigures = "", stopped = false;
function drawLive(figures) {
  const text = JSON.stringify(figures);
  if (text === shownFigures) return;
  shownFigures = text;
  live.replaceChildren();
  if (!figures.streams.length)
    element("p", figures.active ? "waiting for the first micro-batch" : "no stream has run yet", live, "keys");
  figures.streams.forEach((stream) => drawStream(stream, figures.active && !stopped));
  drawOnPlan(figures.streams);
}
async function ask() {
  try {
    const answer = await fetch("figures" + location.search);
    const figures = await answer.json();
    if (figures.queries > DATA.queries.length) return void location.reload();
    drawLive(figures);
    setTimeout(ask, ASKED_EVERY);
  } catch {
    stopped = true;
    const last = shownFigures ? JSON.parse(shownFigures) : { streams: [] };
    shownFigures = "";
    drawLive({ ...last, active: false });
    live.prepend(element("p", "the run has ended; these are its last figures", live, "ended"));
  }
}
ask();
