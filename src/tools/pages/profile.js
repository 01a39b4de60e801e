// Tables of a profile: totals per op and per kernel, all steps. They are sorted by their headings and filtered together.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const kindOf = n => n.next_op ? `${n.op} + ${n.next_op}` : n.op;
const steps = data.nodes.map((n, index) => ({ ...n, index, op: kindOf(n), name: n.next ? `${n.name} + ${n.next}` : n.name,
  share: data.ms ? n.ms / data.ms : 0 }));
const number = digits => value => value === null ? "?" : value.toFixed(digits);
const percent = row => number(1)(100 * row.share);
// Long names may break after dots, slashes and underscores.
function write(parent, text) {
  String(text).split(/(?<=[./_])/).forEach((part, k) => parent.append(...k ? [document.createElement("wbr"), part] : [part]));
}

// A table whose headings sort it. columns: title, key of the rows, text for a value; `n` right-aligned numbers, `share` with a bar.
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
      b.addEventListener("click", () => { this.down = this.by === c ? !this.down : c.kind !== undefined; this.by = c; this.draw(); });
      th.append(b);
      head.append(th);
      c.th = th;
    });
    this.body = table.createTBody();
    this.foot = table.createTFoot();
  }
  // Unknown values are last in either sort order.
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
const totalColumns = (title, key) => [{ title, key, pick: true, style: "name" }, { title: "steps", key: "steps", kind: "n" }, ...figures.map(c => ({ ...c })),
  { title: "% of roof", key: "percent_of_roof", kind: "n", text: r => number(1)(r.percent_of_roof) }];
const picked = { op: null, kernel: null };
const pick = key => value => { picked[key] = value; show(); };
const tables = {
  op: new SortedTable(byId("ops"), totalColumns("op", "op"), pick("op")),
  kernel: new SortedTable(byId("kernels"), totalColumns("kernel", "kernel"), pick("kernel")),
  nodes: new SortedTable(byId("nodes"), [{ title: "node", key: "name", style: "name" }, { title: "op", key: "op" }, ...figures.map(c => ({ ...c })),
    { title: "GB/s", key: "gb_per_s", kind: "n", text: r => number(1)(r.gb_per_s) },
    { title: "% of roof", key: "percent_of_roof", kind: "n", text: r => number(1)(r.percent_of_roof) },
    { title: "calls", key: "calls", kind: "n" }, { title: "kernel", key: "kernel" }, { title: "output", key: "output" }]),
};

// Totals of steps. A rate is unknown if a step's work is unknown. The lower bound of a step's time is its fraction of the roofline times its time.
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

// Whether every word of the filter occurs in the step's texts.
function matches(step) {
  const text = `${step.name} ${step.op} ${step.kernel} ${step.output}`.toLowerCase();
  return byId("filter").value.toLowerCase().split(/\s+/).every(word => text.includes(word));
}

// A table of totals ignores its own selection, so that another row can be selected.
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

// A click on a dot shows its step.
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
