// The page around the panes: details of a node, search and colours. Starts the page.
"use strict";
const cell = (row, text) => { const td = row.insertCell(); td.textContent = text; return td; };
const button = (text, action) => {
  const b = document.createElement("button");
  b.type = "button";
  b.textContent = text;
  b.addEventListener("click", action);
  return b;
};
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = window.matchMedia("(max-width: 800px)");

const hue = text => { let h = 0; for (const c of text) h = (h * 31 + c.charCodeAt(0)) % 360; return h; };
function colourOf(node, mode, top) {
  const night = dark.matches;
  if (mode === "rule") return node.rule ? `hsl(${hue(node.rule)} ${night ? "45% 32%" : "75% 82%"})` : night ? "#1d2630" : "#fff";
  if (mode === "op") return `hsl(${hue(node.op)} ${night ? "35% 25%" : "65% 89%"})`;
  const share = top ? Math.sqrt((mode === "time" ? node.ms : node.bytes) / top) : 0;
  return night ? `hsl(${210 - 200 * share} ${30 + 40 * share}% ${18 + 24 * share}%)` : `hsl(${210 - 200 * share} 85% ${97 - 30 * share}%)`;
}

function paint() {
  const mode = byId("colour").value;
  const top = data.sides.flatMap(s => s.nodes).reduce((t, n) => Math.max(t, mode === "bytes" ? n.bytes : n.ms), 0);
  sides.forEach(({ nodes, groups }) => groups.forEach((g, i) => {
    if (!nodes[i].port) g.firstChild.setAttribute("fill", colourOf(nodes[i], mode, top));
  }));
}

// On a narrow screen only one pane is visible, and the panel below it opens and closes.
function showPane(s) {
  document.body.dataset.pane = s;
  [0, 1].forEach(k => byId("tab-" + k).setAttribute("aria-pressed", k === s));
}
function openPanel(open) {
  document.body.classList.toggle("panel", open);
  byId("more").setAttribute("aria-expanded", open);
}

let chosen = null;
function mark() {
  for (const c of ["chosen", "twin", "near"]) document.querySelectorAll("." + c).forEach(g => g.classList.remove(c));
  if (!chosen) return;
  const [s, i] = chosen;
  sides[s].groups[i].classList.add("chosen");
  counterparts(s, i).forEach(j => sides[1 - s].groups[j].classList.add("twin"));
  sides[s].wires.forEach(w => { if (w.reader === i || w.source === i) w.e.classList.add("near"); });
}

function goToNode(s, i) { showPane(s); openPanel(true); centre(s, i); choose(s, i); }

function choose(s, i) {
  chosen = [s, i];
  mark();
  const table = document.createElement("table");
  const row = (key, text, go) => {
    const tr = table.insertRow();
    cell(tr, key);
    const td = cell(tr, go ? "" : text);
    if (!go) return;
    const link = button(text, () => goToNode(...go));
    link.className = "link";
    td.append(link);
  };
  describe(s, i, row);
  byId("detail").className = "";
  byId("detail").replaceChildren(table);
  openPanel(true);
  if (!inView(s, i)) centre(s, i);  // the panel, which is open now, may cover the node
}

const label = (s, j) => `${lists[s][j].op} ${lists[s][j].name}`;
function describe(s, i, row) {
  const n = lists[s][i], others = counterparts(s, i), state = stateOf(s, i), MOST = 12;
  row("name", n.name);
  row("op", n.op);
  if (n.origin) row("from", n.origin);
  if (!n.port) row("rule", n.rule || "none: as imported");
  if (n.comes_from >= 0) row("captured", label(s, n.comes_from), [s, n.comes_from]);
  if (s === 0 && state === "gone") row("after", fateOf(i));
  else if (s === 0) others.forEach(j => row("after", (state === "fused" ? "fused into " : "") + label(1, j), [1, j]));
  else others.slice(0, MOST).forEach((j, k) => row(k ? "" : others.length > 1 ? `before (${others.length})` : "before", label(0, j), [0, j]));
  if (s === 1 && others.length > MOST) row("", `and ${others.length - MOST} more`);
  n.attrs.forEach(([k, v]) => row(k, v));
  n.inputs.forEach((v, k) => row("input " + k, v.name || v.type ? `${v.name}  ${v.type}${v.constant ? "  constant" : ""}` : "absent",
    v.from >= 0 ? [s, v.from] : null));
  n.outputs.forEach((v, k) => row("output " + k, `${v.name}  ${v.type}`));
  if (n.port) return;
  row("FLOPs", short(n.flops));
  row("bytes", short(n.bytes));
  row("time", n.ms.toFixed(4) + " ms estimated");
}

let hits = [], hit = -1;
function search() {
  const text = byId("search").value.trim().toLowerCase();
  hits = [];
  hit = -1;
  sides.forEach(({ nodes, groups }, s) => groups.forEach((g, i) => {
    const n = nodes[i], found = text !== "" && `${n.name} ${n.op} ${n.rule} :${stateOf(s, i)}`.toLowerCase().includes(text);
    g.classList.toggle("found", found);
    if (found) hits.push([s, i]);
  }));
  byId("results").replaceChildren(...hits.slice(0, 200).map(([s, i], k) => {
    const li = document.createElement("li");
    li.append(button(`${sides[s].side.title}: ${label(s, i)}`, () => goTo(k)));
    return li;
  }));
  byId("found").textContent = text === "" ? "" : `${hits.length} found` +
    (!hits.length && data.rules.some(r => r.name.toLowerCase() === text) ? ": no node that this rule made is left" : "");
}
function searchFor(text) { byId("search").value = text; search(); openPanel(text !== ""); }

function goTo(k) {
  if (!hits.length) return;
  hit = (k + hits.length) % hits.length;
  byId("found").textContent = `${hit + 1} of ${hits.length} found`;
  [...byId("results").children].forEach((li, i) => { li.classList.toggle("at", i === hit); if (i === hit) li.scrollIntoView({ block: "nearest" }); });
  goToNode(...hits[hit]);
}

window.addEventListener("keydown", e => {
  const box = byId("search");
  if (e.key === "/" && document.activeElement !== box) { e.preventDefault(); box.focus(); box.select(); }
  if (e.key === "Enter" && document.activeElement === box) goTo(hit + (e.shiftKey ? -1 : 1));
  if (e.key === "Escape") { searchFor(""); box.blur(); }
});

function layOut(laid) {
  sides.forEach((side, s) => side.draw(laid[s]));
  paint();
  search();
  mark();
  showBeginning();
}

function headOf({ s, side, nodes }) {
  const states = s ? [["made", "made by rules"]] : [["fused", "fused"], ["gone", "removed"]];
  byId("head-" + s).textContent = `${side.title}: ${side.nodes.length} nodes, ${short(side.flops)} FLOPs, ${short(side.bytes)}B`;
  states.forEach(([state, text]) => {
    const chip = button(`${nodes.filter((n, i) => stateOf(s, i) === state).length} ${text}`, () => searchFor(":" + state));
    chip.className = `chip ${state}`;
    byId("head-" + s).append(chip);
  });
  byId("tab-" + s).textContent = `${side.title} (${side.nodes.length})`;
  byId("tab-" + s).addEventListener("click", () => showPane(s));
}

function listRules() {
  data.rules.sort((p, q) => q.hits - p.hits).forEach(r => {
    const tr = byId("rules").insertRow(), link = button(r.name, () => searchFor(r.name));
    cell(tr, String(r.hits));
    cell(tr, "").append(link);
    link.className = "link";
    tr.title = r.summary;
  });
}

const [a, b] = data.sides;
byId("title").textContent = data.model.split("/").pop();
byId("title").title = data.model;
document.title = `${byId("title").textContent} - tern optimize`;
byId("figures").textContent = `nodes ${a.nodes.length} → ${b.nodes.length} · FLOPs ${short(a.flops)} → ${short(b.flops)} · bytes ${short(a.bytes)}`
  + ` → ${short(b.bytes)} · estimated ${a.ms.toFixed(3)} → ${b.ms.toFixed(3)} ms`;
sides.forEach(headOf);
sides.forEach(listen);
listRules();
showPane(0);
byId("colour").addEventListener("change", paint);
dark.addEventListener("change", paint);
byId("search").addEventListener("input", () => { search(); openPanel(true); });
byId("fit").addEventListener("click", fit);
byId("more").addEventListener("click", () => openPanel(!document.body.classList.contains("panel")));
byId("align").addEventListener("change", () => layOut(layOutSides(aligned())));
narrow.addEventListener("change", showBeginning);
const together = layOutSides(true);
if (!together) Object.assign(byId("align"), { checked: false, disabled: true });
layOut(together || layOutSides(false));
requestAnimationFrame(() => document.body.dataset.ready = "1");
