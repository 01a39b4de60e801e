// Draws the graphs in the two panes, and zooms and pans them.
"use strict";
const byId = id => document.getElementById(id);
const make = (tag, attrs, parent) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  parent.appendChild(e);
  return e;
};
const short = n => n >= 1e9 ? (n / 1e9).toFixed(2) + "G" : n >= 1e6 ? (n / 1e6).toFixed(2) + "M" : n >= 1e3 ? (n / 1e3).toFixed(1) + "k"
  : String(Math.round(n));
const cut = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;
const MARGIN = 10, READABLE = 0.6, NEAREST = 6;

const typeOf = n => (n.outputs[0] || n.inputs[0] || { type: "" }).type;
function noteOf(s, i) {
  if (lists[s][i].rule) return `\nmade by ${lists[s][i].rule}`;
  const state = stateOf(s, i);
  return state === "fused" ? `\nfused into ${lists[1][fused[i]].op} ${lists[1][fused[i]].name}` : state === "gone" ? `\n${fateOf(i)}` : "";
}

class Side {
  constructor(s) {
    Object.assign(this, { s, side: data.sides[s], svg: byId("side-" + s), nodes: lists[s], view: { x: 0, y: 0, k: 1 }, groups: [], wires: [], titles: [], at: [] });
    this.root = make("g", {}, this.svg);
  }
  apply() {
    this.waiting ||= requestAnimationFrame(() => {
      this.waiting = 0;
      this.root.setAttribute("transform", `translate(${this.view.x} ${this.view.y}) scale(${this.view.k})`);
      this.svg.classList.toggle("far", this.view.k < 0.3);
      this.titles.forEach(t => this.moveTitle(t));
    });
  }
  show(k, x, y) { Object.assign(this.view, { k, x, y }); this.apply(); }
  // Returns the pane's rectangle. On a narrow screen one pane is hidden. Its rectangle is that of the visible pane.
  area() {
    const own = this.svg.getBoundingClientRect();
    return own.width ? own : byId("side-" + (1 - this.s)).getBoundingClientRect();
  }
  box() { return this.laid.box; }
  draw(laid) {
    Object.assign(this, { laid, at: laid.at });
    this.root.replaceChildren();
    const frames = make("g", {}, this.root), edges = make("g", {}, this.root), boxes = make("g", {}, this.root);
    this.titles = laid.frames.map(f => ({ f, text: this.drawFrame(f, frames) }));
    this.wires = laid.wires.map(w => {
      const reader = this.nodes[w.reader], captured = !reader.inputs.some(v => v.from === w.source);
      return { ...w, e: make("path", { class: captured ? "edge captured" : "edge", d: w.d }, edges) };
    });
    this.groups = this.nodes.map((n, i) => this.drawNode(n, i, boxes));
  }
  drawFrame(f, parent) {
    const body = this.side.bodies[f.body], owner = this.nodes[body.owner], g = make("g", { class: "frame", "data-body": f.body }, parent);
    const title = `${owner.op} ${body.role}`;
    make("rect", { x: f.x.toFixed(1), y: f.y, width: f.w.toFixed(1), height: f.h }, g);
    make("title", {}, g).textContent = `${title} of ${owner.name}${body.name ? `, graph ${body.name}` : ""}`;
    const text = make("text", { x: (f.x + 8).toFixed(1), y: f.y + 15 }, g);
    text.textContent = cut(owner.name ? `${title} · ${owner.name}` : title, Math.floor(f.w / 7));
    return text;
  }
  // Moves the title of a frame so that it is visible while its frame is partly visible.
  moveTitle({ f, text }) {
    const left = 8 - this.view.x / this.view.k, last = f.x + f.w - 7 * text.textContent.length - 8;
    text.setAttribute("x", Math.max(f.x + 8, Math.min(left, last)).toFixed(1));
  }
  drawNode(n, i, parent) {
    const state = stateOf(this.s, i), g = make("g", { class: `${n.port ? "port" : "node"} ${state}`,
      transform: `translate(${this.at[i].x.toFixed(1)} ${this.at[i].y})`, "data-name": n.name, "data-index": i }, parent);
    const x = n.port ? 14 : 8, into = state === "fused" ? `→ ${lists[1][fused[i]].op}  ` : "";
    make("rect", { width: W, height: H }, g);
    make("text", { x, y: 15 }, g).textContent = cut(n.port ? `${n.op} ${n.name}` : n.op, n.port ? 19 : 23);
    make("text", { x, y: 29, class: "small" }, g).textContent = cut(into + typeOf(n), 27);
    make("title", {}, g).textContent = n.name + noteOf(this.s, i);
    return g;
  }
}
const sides = data.sides.map((side, s) => new Side(s));

// Both sides move together while the checkbox "aligned" is set.
const aligned = () => byId("align").checked;
const moved = s => aligned() ? sides : [sides[s]];

// Returns the scale at which an entire side is visible.
function wholeScale(side) {
  const { w, h } = side.box(), { width, height } = side.area();
  return Math.min(1, (width - 2 * MARGIN) / w, (height - 2 * MARGIN) / h);
}

// Fits both graphs into their panes.
function fit() {
  const scales = sides.map(wholeScale);
  sides.forEach((side, s) => {
    const k = aligned() ? Math.min(...scales) : scales[s], { w, h } = side.box(), { width, height } = side.area();
    side.show(k, (width - w * k) / 2, Math.max(MARGIN, (height - h * k) / 2));
  });
}

// Returns how many of the sorted numbers are in [low, high).
function within(sorted, low, high) {
  const below = limit => {
    let a = 0, b = sorted.length;
    while (a < b) { const mid = (a + b) >> 1; if (sorted[mid] < limit) a = mid + 1; else b = mid; }
    return a;
  };
  return below(high) - below(low);
}

// Slides a window of this width over the sorted numbers. Returns the midpoint between the first and the last
// number in the window that contains the most numbers. If there are several such windows, uses the first.
function densest(sorted, width) {
  let best = 0, from = 0, to = 0, i = 0;
  for (let j = 0; j < sorted.length; ++j) {
    while (sorted[j] - sorted[i] > width) ++i;
    if (j - i + 1 > best) [best, from, to] = [j - i + 1, sorted[i], sorted[j]];
  }
  return (from + to) / 2;
}

// Shows the first rows of both graphs at a readable scale. Starts at the first row at which nodes are visible
// in both panes. Centres each pane on the region with the most nodes, because a graph may be much wider than the pane
// and empty in its centre.
function showBeginning() {
  const scale = side => Math.min(1, Math.max(READABLE, (side.area().width - 2 * MARGIN) / side.box().w));
  const scales = sides.map(scale), ascending = (a, b) => a - b;
  const heights = sides.map((side, s) => (side.area().height - 2 * MARGIN) / (aligned() ? Math.min(...scales) : scales[s]));
  const ys = sides.map(side => side.at.map(p => p.y).sort(ascending));
  const group = aligned() ? [[0, 1]] : [[0], [1]];
  group.forEach(list => {
    const filled = list.filter(s => ys[s].length), starts = [...new Set(filled.flatMap(s => ys[s]))].sort(ascending);
    const top = starts.find(y => filled.every(s => within(ys[s], y, y + heights[s] - H) > 0)) ?? 0;
    list.forEach(s => {
      const side = sides[s], k = aligned() ? Math.min(...scales) : scales[s], { width } = side.area();
      const xs = side.at.filter(p => p.y >= top && p.y < top + heights[s] - H).map(p => p.x + W / 2).sort(ascending);
      const fits = side.box().w * k <= width, middle = fits || !xs.length ? side.box().w / 2 : densest(xs, width / k - W - 2 * MARGIN);
      side.show(k, width / 2 - middle * k, MARGIN - top * k);
    });
  });
}

// Centres a node in its pane, and its counterpart in the other pane.
function centre(s, i) {
  const put = (side, j, k) => {
    const { width, height } = side.area(), p = side.at[j];
    side.show(k, width / 2 - (p.x + W / 2) * k, height / 2 - (p.y + H / 2) * k);
  };
  const k = Math.max(sides[s].view.k, 0.8), other = counterparts(s, i)[0], across = sides[1 - s];
  put(sides[s], i, k);
  if (other !== undefined) put(across, other, aligned() ? k : Math.max(across.view.k, 0.8));
  else if (aligned()) across.show(k, across.view.x, sides[s].view.y);
}

// Returns true if the centre of a node is visible.
function inView(s, i) {
  const { view, at } = sides[s], { width, height } = sides[s].area(), x = view.x + (at[i].x + W / 2) * view.k, y = view.y + (at[i].y + H / 2) * view.k;
  return x >= 0 && x <= width && y >= 0 && y <= height;
}

function pan(s, dx, dy) { moved(s).forEach(side => side.show(side.view.k, side.view.x + dx, side.view.y + dy)); }

// Zooms by a factor. The point (px, py) of the pane does not move.
function zoom(s, by, px, py) {
  const least = Math.min(0.01, ...sides.map(wholeScale)), { k } = sides[s].view;
  const factor = Math.min(NEAREST, Math.max(least, k * by)) / k;
  moved(s).forEach(side => side.show(side.view.k * factor, px - (px - side.view.x) * factor, py - (py - side.view.y) * factor));
}

// Handles the wheel and pointers of a pane. Dragging one pointer pans, two pointers pinch, and a press without movement selects a node.
function listen({ svg, s }) {
  const down = new Map();
  let travelled = 0, pressed = null;
  const middle = () => {
    const [a, b = a] = [...down.values()], box = svg.getBoundingClientRect();
    return { x: (a.x + b.x) / 2 - box.left, y: (a.y + b.y) / 2 - box.top, apart: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  svg.addEventListener("wheel", e => {
    e.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(s, Math.exp(-e.deltaY * 0.0015), e.clientX - box.left, e.clientY - box.top);
  }, { passive: false });
  svg.addEventListener("pointerdown", e => {
    if (!down.size) [travelled, pressed] = [0, e.target.closest("[data-index]")];
    down.set(e.pointerId, { x: e.clientX, y: e.clientY });
    if (down.size > 1) pressed = null;
    svg.classList.add("dragging");
  });
  window.addEventListener("pointermove", e => {
    if (!down.has(e.pointerId)) return;
    const was = middle();
    down.set(e.pointerId, { x: e.clientX, y: e.clientY });
    const now = middle();
    travelled += Math.hypot(now.x - was.x, now.y - was.y);
    pan(s, now.x - was.x, now.y - was.y);
    if (was.apart && now.apart) zoom(s, now.apart / was.apart, now.x, now.y);
  });
  const release = e => {
    if (!down.delete(e.pointerId) || down.size) return;
    svg.classList.remove("dragging");
    if (e.type === "pointerup" && pressed && travelled < 5) choose(s, Number(pressed.dataset.index));
    pressed = null;
  };
  window.addEventListener("pointerup", release);
  window.addEventListener("pointercancel", release);
  svg.addEventListener("keydown", e => panelKey(s, e));
}

// Handles a key that is pressed in the focused pane.
function panelKey(s, e) {
  const { width, height } = sides[s].area(), step = 60, last = sides[s].nodes.length - 1;
  const walk = by => { const at = chosen && chosen[0] === s ? chosen[1] : by > 0 ? -1 : last + 1, i = Math.min(last, Math.max(0, at + by)); centre(s, i); choose(s, i); };
  const keys = { ArrowLeft: () => pan(s, step, 0), ArrowRight: () => pan(s, -step, 0), ArrowUp: () => pan(s, 0, step), ArrowDown: () => pan(s, 0, -step),
    "+": () => zoom(s, 1.25, width / 2, height / 2), "=": () => zoom(s, 1.25, width / 2, height / 2), "-": () => zoom(s, 0.8, width / 2, height / 2),
    0: fit, n: () => walk(1), p: () => walk(-1) };
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
  e.preventDefault();
  keys[e.key]();
}
