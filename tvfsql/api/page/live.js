
// ------------------------------------------------------------------ running streams
// A stream has facts, tiles with a number as of its last micro-batch over a line of those before, and its operators.
const ASKED_EVERY = 1000, LINE_WIDE = 150, LINE_HIGH = 36, LISTED = 12, IDLE = 10, FAR = 7 * 86400;
const PHASES = [
  ["looking for new rows", "--source", ["latestOffset", "getBatch", "getOffset"]],
  ["planning", "--shuffle", ["queryPlanning"]],
  ["computing rows and state", "--bar", ["addBatch"]],
  ["writing the checkpoint", "--gather", ["walCommit", "commitOffsets", "commitBatch"]],
];
function span(seconds) {
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]])
    if (Math.abs(seconds) >= 2 * length) return `${count(Math.round(seconds / length))} ${unit}`;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}
function shortClock({ clocks }) {
  const [day, clock] = clocks.watermark.slice(0, 19).split(" ");
  return clock && clocks.time.startsWith(day) ? clock : clocks.watermark.slice(0, 19);
}
function toldOfLate(dropped, last) {
  if (dropped) return `${((100 * dropped) / Math.max(1, last.rows_in)).toFixed(2)}% dropped`;
  return last.late_rows_written ? `${count(last.late_rows_written)} in a table` : "none dropped";
}
const late = (batch) => batch.late_rows_dropped || 0;
// [title, value of a micro-batch (undefined: it has none), text of the last value, small text below, whether it is bad]
const TILES = [
  ["rows in", (batch) => batch.new_rows_in, (n, last) => `${count(last.rate)}/s`, (n, last) => `${count(last.rows_in)} in all`],
  ["rows out", (batch) => batch.new_rows_out, (n, last) => `${count(last.rate_out)}/s`, (n, last) => `${count(last.rows_out)} in all`],
  ["watermark lag", (batch) => batch.watermark_lag_seconds, (n) => (n > FAR ? "event time" : span(n)),
    (n, last) => (n > FAR ? `${last.clocks.watermark.slice(0, 19)}, ${span(n)} ago` : `at ${shortClock(last)}`)],
  ["late rows", late, count, toldOfLate, (n) => n > 0],
  ["state", (batch) => batch.state_bytes, size, (n, last) => `${count(last.state_rows)} rows`],
  ["open slices", (batch) => batch.open_slices, count, () => ""],
  ["micro-batch", (batch) => batch.last_micro_batch_seconds, span, (n, last) => `number ${count(last.micro_batch)}`],
];
const live = document.createElement("section");
live.id = "live";
document.body.classList.add("live");
$("summary").before(live);

function withDifferences(batches) {
  return batches.map((batch, i) => {
    const before = i ? batches[i - 1] : null;
    const since = (name) => (before ? batch[name] - before[name] : batch[name]);
    const new_rows_in = since("rows_in"), new_rows_out = since("rows_out");
    const seconds = Math.max(before ? batch.time - before.time : batch.last_micro_batch_seconds, 0.001);
    return { ...batch, new_rows_in, new_rows_out, new_late: since("late_rows_dropped"),
      rate: Math.round(new_rows_in / seconds), rate_out: Math.round(new_rows_out / seconds) };
  });
}
function line(values, title, parent) {
  if (!values.length) return;
  const low = Math.min(0, ...values), high = Math.max(...values, low + 1e-9);
  const x = (i) => (values.length < 2 ? LINE_WIDE : (i / (values.length - 1)) * LINE_WIDE);
  const y = (value) => LINE_HIGH - 2 - ((value - low) / (high - low)) * (LINE_HIGH - 4);
  const label = `${title}, the last ${values.length} micro-batches`;
  const box = svg("svg", { viewBox: `0 0 ${LINE_WIDE} ${LINE_HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": label }, parent);
  const points = values.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
  svg("title", {}, box, label);
  svg("path", { class: "area", d: `M0 ${LINE_HIGH} L${points.join(" L")} L${LINE_WIDE} ${LINE_HIGH} Z` }, box);
  svg("path", { class: "line", d: `M${points.join(" L")}` }, box);
}
function statusOf(stream, figures) {
  if (stream.failure || (figures.failure && !figures.active)) return "failed";
  if (!figures.active || stopped) return "finished";
  const last = stream.batches[stream.batches.length - 1];
  return figures.now - last.time > Math.max(IDLE, 4 * last.last_micro_batch_seconds) ? "idle" : "running";
}
function fact(name, value, parent) {
  if (!value) return;
  const box = element("div", undefined, parent);
  element("dt", name, box);
  element("dd", value, box);
}
function drawStream(stream, figures) {
  const batches = withDifferences(stream.batches), last = batches[batches.length - 1], status = statusOf(stream, figures);
  const box = element("div", undefined, live, "stream");
  element("h2", `stream ${stream.name}`, box);
  element("span", status, box, `pill ${status}`);
  const facts = element("dl", undefined, box, "facts");
  fact("script", figures.script, facts);
  fact("reads", (stream.sources || []).join(", "), facts);
  fact("writes", (stream.sinks || []).join(", "), facts);
  fact("up", span(figures.now - figures.started), facts);
  facts.lastElementChild.lastElementChild.dataset.clock = "";
  fact("checkpoint", figures.checkpoint || "none: state ends with the run", facts);
  element("p", told(status, figures, last), box, "told").dataset.clock = stream.name;
  const tiles = element("div", undefined, box, "cards");
  for (const [name, value, text, below, bad] of TILES) {
    const values = batches.map(value).filter((each) => each !== undefined), now = value(last);
    if (now === undefined && !values.length) continue;
    const tile = element("div", undefined, tiles, `tile${bad && bad(now) ? " bad" : ""}`);
    element("div", name, tile, "name");
    element("div", now === undefined ? "end of input" : text(now, last), tile, "value");
    element("div", now === undefined ? "" : below(now, last), tile, "below");
    line(values, name, tile);
  }
  drawPhases(last, box);
  drawOperators(stream, batches, box);
  drawChannels(stream, batches, box);
  const table = folded(stream, `the last ${Math.min(LISTED, batches.length)} micro-batches`, "micro-batches", false, box,
    ["number", "ended", "rows in", "rows out", "late", "seconds", "watermark", "state rows"]);
  for (const batch of batches.slice(-LISTED).reverse())
    cells([batch.micro_batch, batch.clocks.time, batch.new_rows_in, batch.new_rows_out, batch.new_late,
      batch.last_micro_batch_seconds, batch.clocks.watermark, batch.state_rows], table);
}
function phasesOf(batch) {
  const all = batch.phases || {};
  const found = PHASES.map(([name, colour, keys]) => [name, colour, keys.reduce((sum, key) => sum + (all[key] || 0), 0)]);
  const rest = (all.triggerExecution || 0) - found.reduce((sum, [, , ms]) => sum + ms, 0);
  return [...found, ["the rest", "--rows", Math.max(0, rest)]].filter(([, , ms]) => ms > 0);
}
function told(status, figures, last) {
  const since = span(Math.max(0, figures.now - last.time));
  if (status === "failed") return "The run has failed; the figures are those of its last micro-batch.";
  if (status === "finished") return "The run has ended; the figures are those of its last micro-batch.";
  if (status === "idle") return `No new rows for ${since}: the stream waits for its sources.`;
  const phases = phasesOf(last), all = phases.reduce((sum, [, , ms]) => sum + ms, 0);
  const [name, , ms] = phases.reduce((most, each) => (each[2] > most[2] ? each : most), ["", "", 0]);
  const most = all ? ` Most of it is ${name}: ${time(ms)} of ${time(all)}.` : "";
  return `The last micro-batch took ${span(last.last_micro_batch_seconds)} for ${count(last.new_rows_in)} rows.${most}`;
}
function drawPhases(last, parent) {
  const phases = phasesOf(last);
  if (!phases.length) return;
  element("h2", "Where the last micro-batch spent its time", parent).style.display = "block";
  const bar = element("div", undefined, parent, "phases"), list = element("ul", undefined, parent, "keysOf");
  bar.setAttribute("aria-hidden", "true");
  for (const [name, colour, ms] of phases) {
    const part = element("span", undefined, bar);
    part.style.flexGrow = ms;
    part.style.background = `var(${colour})`;
    element("li", `${name} ${time(ms)}`, list).style.setProperty("--own", `var(${colour})`);
  }
}
const toggled = new Set(); // the tables that are not as they are at first
function folded(stream, title, kind, isOpen, parent, heads) {
  const details = element("details", undefined, parent), key = `${kind} ${stream.name}`;
  details.open = isOpen !== toggled.has(key);
  details.addEventListener("toggle", () => toggled[details.open === isOpen ? "delete" : "add"](key));
  element("summary", title, details);
  const table = element("table", undefined, element("div", undefined, details, "scroll"));
  const row = element("tr", undefined, element("thead", undefined, table));
  for (const head of heads) element("th", head, row, NUMBERS.has(head) ? "number" : "");
  return element("tbody", undefined, table);
}
const NUMBERS = new Set(["number", "rows in", "rows out", "late", "late rows", "seconds", "state rows", "state", "open slices", "input"]);
function cells(values, table) {
  const row = element("tr", undefined, table);
  for (const value of values)
    element("td", value == null ? "-" : typeof value === "number" ? count(value) : value, row, typeof value === "number" ? "number" : "");
  return row;
}

// ------------------------------------------------------------------ operators and channels of a stream
// [name, value of what an operator has counted since the run began]
const FIGURES_OF = [
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
  return [...found.values()].sort((a, b) => a.query - b.query || physical(a.query).nodes[a.node].number - physical(b.query).nodes[b.node].number);
}
function perBatch(batches, value) {
  const totals = batches.map((batch) => value(batch) || 0);
  return totals.map((total, i) => total - (i ? totals[i - 1] : 0)).slice(batches[0].micro_batch ? 1 : 0);
}
function drawOperators(stream, batches, box) {
  const last = batches[batches.length - 1], operators = operatorsOf(stream);
  if (!operators.length) return;
  const table = folded(stream, "operators", "operators", true, box,
    ["operator", "rows in", "rows out", "late rows", "state", "open slices", "watermark", "rows per micro-batch"]);
  for (const { query, node, of } of operators) {
    const shown = physical(query).nodes[node], found = of(last);
    const row = cells([shown.operator, found.rows_in, found.rows_out, found.late,
      found.state_bytes === undefined ? null : size(found.state_bytes), found.open_slices, found.clock], table);
    row.className = class_of(shown);
    row.firstChild.className = "op";
    for (const cell of [...row.children].slice(1, 6)) cell.className = "number";
    element("div", shown.does, row.firstChild, "does");
    const rows = found.rows_in === undefined ? "rows_out" : "rows_in";
    line(perBatch(batches, (batch) => of(batch)[rows]), `${shown.operator}: rows`, element("td", undefined, row, "over"));
  }
  element("p", WITHOUT, table.closest("details"), "keys");
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
      physical(query).nodes[node].figures = Object.fromEntries(FIGURES_OF.map(([name, value]) => [name, value(found)]));
    }
  if (step !== physical(DATA.queries.indexOf(query))) return;
  const focused = document.activeElement.matches("g.node");
  redraw();
  if (focused) select(at, true);
}
let asked = "", stopped = false, shown = null;
// What has not changed stays as it is: a person may be reading or selecting it. Only clocks go on.
function goOn(figures) {
  const text = JSON.stringify([figures.streams, figures.failure, figures.streams.map((stream) => statusOf(stream, figures))]);
  if (text !== asked) {
    asked = text;
    drawLive(figures);
    drawOnPlan(figures.streams);
    return;
  }
  const lasts = new Map(figures.streams.map((stream) => [stream.name, withDifferences(stream.batches).pop()]));
  for (const each of live.querySelectorAll("[data-clock]")) {
    const stream = figures.streams.find((one) => one.name === each.dataset.clock);
    each.textContent = stream && each.dataset.clock ? told(statusOf(stream, figures), figures, lasts.get(stream.name)) : span(figures.now - figures.started);
  }
}
function drawLive(figures) {
  shown = figures;
  const left = scrollX, top = scrollY;
  live.replaceChildren();
  if (figures.failure) {
    const box = element("div", undefined, live, "notice failed");
    box.setAttribute("role", "alert");
    element("strong", "The run has failed", box);
    element("pre", figures.failure, box);
  } else if (stopped) element("p", "The run has ended; these are its last figures.", live, "notice ended");
  if (!figures.streams.length)
    element("p", figures.active ? "Waiting for the first micro-batch." : "No stream has run yet.", live, "notice");
  figures.streams.forEach((stream) => drawStream(stream, figures));
  scrollTo(left, top);
}
async function ask() {
  try {
    const answer = await fetch("figures" + location.search);
    const figures = await answer.json();
    if (figures.queries > DATA.queries.length) return void location.reload();
    goOn(figures);
    setTimeout(ask, ASKED_EVERY);
  } catch {
    stopped = true;
    drawLive({ ...(shown || { streams: [], now: 0, started: 0 }), active: false });
  }
}
ask();
