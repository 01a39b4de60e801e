// The tables of a profile. They show totals per op, totals per kernel, and all steps. A click on a heading
// sorts its table. The filter applies to all tables.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const kindOf = n => n.next_op ? `${n.op} + ${n.next_op}` : n.op;
const steps = data.nodes.map((n, index) => ({ ...n, index, op: kindOf(n), name: n.next ? `${n.name} + ${n.next}` : n.name,
  share: data.ms ? n.ms / data.ms : 0 }));
const number = digits => value => value === null ? "?" : value.toFixed(digits);
const percent = row => number(1)(100 * row.share);
// Appends a text in which the browser may break lines after dots, slashes and underscores.
function write(parent, text) {
  String(text).split(/(?<=[./_])/).forEach((part, k) => parent.append(...k ? [document.createElement("wbr"), part] : [part]));
}

// A table that is sorted by a click on a heading. A column has a title, the key of its values in the rows,
// and optionally a function `text` that formats a row and a `hint` for its heading. The kind of a column is "n" for right-aligned numbers,
// or "share" for numbers with a bar.
class SortedTable {
  constructor(table, columns, onPick) {
    Object.assign(this, { table, columns, onPick, rows: [], by: columns.find(c => c.first), down: true });
    const head = table.createTHead().insertRow();
    columns.forEach(c => {
      const th = document.createElement("th"), b = document.createElement("button");
      th.scope = "col";
      th.className = c.kind ? "n" : "";
      b.type = "button";
      b.textContent = c.title;
      if (c.hint) b.title = c.hint;
      b.addEventListener("click", () => { this.down = this.by === c ? !this.down : c.kind !== undefined; this.by = c; this.draw(); });
      th.append(b);
      head.append(th);
      c.th = th;
    });
    this.body = table.createTBody();
    this.foot = table.createTFoot();
  }
  // Unknown values (null) are last in ascending and in descending order.
  compare(p, q) {
    const a = p[this.by.key], b = q[this.by.key];
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
    return this.down ? -order : order;
  }
  show(rows, total) { Object.assign(this, { rows, total }); this.draw(); }
  draw() {
    this.columns.forEach(c => c.th.setAttribute("aria-sort", c !== this.by ? "none" : this.down ? "descending" : "ascending"));
    this.body.replaceChildren(...this.rows.slice().sort((p, q) => this.compare(p, q)).map(row => this.line(row)));
    this.foot.replaceChildren(...this.total ? [this.line(this.total)] : []);
  }
  line(row) {
    const tr = document.createElement("tr");
    if (row.index !== undefined) tr.dataset.index = row.index;
    this.columns.forEach(c => {
      const td = tr.insertCell(), text = c.text ? c.text(row) : row[c.key];
      td.className = c.kind === "share" ? "n share" : c.kind || c.style || "";
      if (c.kind === "share") td.style.setProperty("--part", `${Math.min(100, 100 * row.share)}%`);
      if (c.pick && this.onPick && row !== this.total) td.append(this.picker(row[c.key]));
      else if (c.kind) td.textContent = text;
      else write(td, text);
    });
    return tr;
  }
  picker(value) {
    const b = document.createElement("button");
    b.type = "button";
    b.className = "pick";
    write(b, value);
    b.setAttribute("aria-pressed", this.picked === value);
    b.addEventListener("click", () => this.onPick(this.picked === value ? null : value));
    return b;
  }
}

const figures = [{ title: "ms", key: "ms", kind: "n", first: true, text: r => number(4)(r.ms) },
  { title: "%", key: "share", kind: "share", text: percent }, { title: "GFLOP/s", key: "gflops", kind: "n", text: r => number(1)(r.gflops) }];
const roof = { title: "% of roof", key: "percent_of_roof", kind: "n", text: r => number(1)(r.percent_of_roof),
  hint: "the shortest time that the machine's rates of multiply-adds and of reading memory permit, in percent of the measured time; "
    + "above 100: the data came from a cache, or the algorithm computes less than the direct one, such as Winograd's" };
const totalColumns = (title, key) => [{ title, key, pick: true, style: "name" }, { title: "steps", key: "steps", kind: "n" }, ...figures.map(c => ({ ...c })),
  { ...roof }];
const picked = { op: null, kernel: null };
const pick = key => value => { picked[key] = value; show(); };
const tables = {
  op: new SortedTable(byId("ops"), totalColumns("op", "op"), pick("op")),
  kernel: new SortedTable(byId("kernels"), totalColumns("kernel", "kernel"), pick("kernel")),
  nodes: new SortedTable(byId("nodes"), [{ title: "node", key: "name", style: "name" }, { title: "op", key: "op" }, ...figures.map(c => ({ ...c })),
    { title: "GB/s", key: "gb_per_s", kind: "n", text: r => number(1)(r.gb_per_s) },
    { ...roof },
    { title: "calls", key: "calls", kind: "n" }, { title: "kernel", key: "kernel" }, { title: "output", key: "output" }]),
};

// Returns the totals of steps. The rates are unknown (null) if the work of a step is unknown. percent_of_roof is the mean over the steps,
// weighted by their times.
function sum(rows, title) {
  const add = value => rows.reduce((total, r) => total + value(r), 0), ms = add(r => r.ms), known = rows.every(r => r.gflops !== null);
  return { ...title, steps: rows.length, ms, share: add(r => r.share), gflops: known && ms ? add(r => r.gflops * r.ms) / ms : null,
    percent_of_roof: known && ms ? add(r => r.percent_of_roof * r.ms) / ms : null };
}
function totals(rows, key) {
  const groups = new Map();
  rows.forEach(r => groups.set(r[key], [...groups.get(r[key]) || [], r]));
  return [...groups].map(([value, list]) => sum(list, { [key]: value }));
}

// Returns true if every word of the filter occurs in the step's name, op, kernel or output.
function matches(step) {
  const text = `${step.name} ${step.op} ${step.kernel} ${step.output}`.toLowerCase();
  return byId("filter").value.toLowerCase().split(/\s+/).every(word => text.includes(word));
}

// Shows the steps that match the filter and the selected op and kernel. A table of totals ignores its own selection, so that the user can
// select another row.
function show() {
  const found = steps.filter(matches), fits = (step, keys) => keys.every(key => picked[key] === null || step[key] === picked[key]);
  for (const [key, other] of [["op", "kernel"], ["kernel", "op"]]) {
    const rows = found.filter(step => fits(step, [other]));
    tables[key].picked = picked[key];
    tables[key].show(totals(rows, key), sum(rows, { [key]: "all" }));
  }
  const left = found.filter(step => fits(step, ["op", "kernel"])), all = sum(left, {});
  tables.nodes.show(left);
  const inside = new Set(left.map(step => step.index));
  document.querySelectorAll("circle").forEach(dot => dot.classList.toggle("out", !inside.has(Number(dot.dataset.index))));
  byId("shown").textContent = `${left.length} of ${steps.length} steps · ${number(4)(all.ms)} ms · ${percent(all)} % of the time`;
  byId("clear").hidden = !byId("filter").value && picked.op === null && picked.kernel === null;
}

function clear() { byId("filter").value = ""; Object.assign(picked, { op: null, kernel: null }); show(); }

// A click on a dot marks its step in the table and scrolls to it.
document.querySelectorAll("circle").forEach(dot => dot.addEventListener("click", () => {
  if (dot.classList.contains("out")) clear();
  document.querySelectorAll("tr.at").forEach(tr => tr.classList.remove("at"));
  const tr = document.querySelector(`#nodes tr[data-index="${dot.dataset.index}"]`);
  tr.classList.add("at");
  tr.scrollIntoView({ block: "center" });
}));
byId("filter").addEventListener("input", show);
byId("clear").addEventListener("click", clear);
window.addEventListener("keydown", e => {
  const box = byId("filter");
  if (e.key === "/" && document.activeElement !== box) { e.preventDefault(); box.focus(); box.select(); }
  if (e.key === "Escape") { clear(); box.blur(); }
});
show();
document.body.dataset.ready = "1";
