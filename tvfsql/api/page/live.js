
// ------------------------------------------------------------------ running streams
// Each stream is a row of cards: a number as of its last micro-batch, and a line over the micro-batches before.
const ASKED_EVERY = 1000, LINE_WIDE = 150, LINE_HIGH = 34, LISTED = 12;
const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];
const count = (n) => n.toLocaleString("en");
const utc = (seconds) => new Date(seconds * 1000).toISOString().replace("T", " ").replace("Z", "");
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
  ["watermark lag", (batch) => batch.watermark_lag_seconds, span, (n, last) => utc(last.watermark)],
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
  const details = element("details", undefined, box);
  details.open = opened.has(stream.name);
  details.addEventListener("toggle", () => opened[details.open ? "add" : "delete"](stream.name));
  element("summary", `the last ${Math.min(LISTED, batches.length)} micro-batches`, details);
  const table = element("table", undefined, details), heads = element("tr", undefined, table);
  for (const head of ["number", "ended", "rows in", "rows out", "late", "seconds", "watermark", "state rows"]) element("th", head, heads);
  for (const batch of batches.slice(-LISTED).reverse()) {
    const row = element("tr", undefined, table);
    const cells = [batch.micro_batch, utc(batch.time), batch.new_rows_in, batch.new_rows_out, batch.new_late,
      batch.last_micro_batch_seconds, batch.watermark === undefined ? "-" : utc(batch.watermark), batch.state_rows];
    for (const cell of cells)
      element("td", cell === undefined ? "-" : typeof cell === "number" ? count(cell) : cell, row, typeof cell === "number" ? "number" : "");
  }
}
const opened = new Set();
let shownFigures = "", stopped = false;
function drawLive(figures) {
  const text = JSON.stringify(figures);
  if (text === shownFigures) return;
  shownFigures = text;
  live.replaceChildren();
  if (!figures.streams.length)
    element("p", figures.active ? "waiting for the first micro-batch" : "no stream has run yet", live, "keys");
  figures.streams.forEach((stream) => drawStream(stream, figures.active && !stopped));
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
