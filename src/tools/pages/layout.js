// Computes the positions of nodes, wires and frames. A node with bodies is drawn as a box with one frame per body below it. Each body
// is laid out as a separate graph.
"use strict";
const W = 168, H = 36, THIN = 16, GAP_X = 16, GAP_Y = 26, LONGEST_ROUTE = 400;
const TITLE = 22, PAD = 14;  // the height of a frame's title, and the space around the nodes in a frame

// Assigns each node to a row by the longest path from an input. Then moves nodes down towards their readers,
// so that wires are short. Nodes with the same number group[list][node] get the same row. reads(list, node)
// returns the indices of the nodes that the node reads. Returns the row of each node as [list][node], or null
// if no assignment exists.
function rows(group, reads) {
  const count = 1 + group.flat().reduce((most, g) => Math.max(most, g), -1);
  const into = Array.from({ length: count }, () => new Set()), outof = Array.from({ length: count }, () => new Set());
  group.forEach((list, s) => list.forEach((g, i) => reads(s, i).forEach(j => {
    into[g].add(list[j]);
    outof[list[j]].add(g);
  })));
  const row = Array(count).fill(0), open = into.map(x => x.size), order = [];
  open.forEach((n, g) => { if (!n) order.push(g); });
  for (const g of order) outof[g].forEach(r => { row[r] = Math.max(row[r], row[g] + 1); if (!--open[r]) order.push(r); });
  if (order.length < count) return null;
  for (const g of order.reverse())
    if (outof[g].size && into[g].size <= outof[g].size) row[g] = Math.min(...[...outof[g]].map(r => row[r])) - 1;
  return group.map(list => list.map(g => row[g]));
}

// Positions the nodes within their rows, near their inputs and readers. If a wire passes through a row, it
// gets a lane in that row, so that it does not cross nodes. Returns the centre of each node, and the wires as
// [reader, source, lanes]. A lane is [centre, row].
function place(widths, row, reads) {
  const wide = widths.slice(), lane = widths.map(() => false), level = row.slice(), up = widths.map(() => []), down = widths.map(() => []);
  const link = (a, b) => { down[a].push(b); up[b].push(a); };
  const lanes = widths.map(() => []), routes = [];  // lanes[node][k] is k + 1 rows below the node
  widths.forEach((w, i) => reads(i).forEach(j => {
    const span = row[i] - row[j];
    if (span > LONGEST_ROUTE) { routes.push([i, j, []]); return; }
    for (let k = lanes[j].length; k < span - 1; ++k) {
      const index = wide.push(THIN) - 1;
      lane.push(true); level.push(row[j] + k + 1); up.push([]); down.push([]);
      link(k ? lanes[j][k - 1] : j, index);
      lanes[j].push(index);
    }
    const way = lanes[j].slice(0, span - 1);
    link(way.length ? way[way.length - 1] : j, i);
    routes.push([i, j, way]);
  }));
  const layers = [];
  level.forEach((r, i) => (layers[r] ||= []).push(i));
  const x = wide.map(() => 0);
  // Sets the positions in a layer as near as possible to `want`. Does not change the order, and respects the
  // minimum distances.
  const settle = (layer, want) => {
    let offset = 0;
    const offsets = layer.map((i, k) => offset += k ? (wide[i] + wide[layer[k - 1]]) / 2 + GAP_X : 0), blocks = [];
    layer.forEach((i, k) => {
      let block = { sum: want[k] - offsets[k], n: 1 };
      while (blocks.length && blocks.at(-1).sum / blocks.at(-1).n > block.sum / block.n) {
        const last = blocks.pop();
        block = { sum: block.sum + last.sum, n: block.n + last.n };
      }
      blocks.push(block);
    });
    let k = 0;
    for (const b of blocks) for (let i = 0; i < b.n; ++i, ++k) x[layer[k]] = b.sum / b.n + offsets[k];
  };
  const order = (layer, near) => {
    const want = new Map(layer.map(i => [i, near[i].length ? near[i].reduce((sum, j) => sum + x[j], 0) / near[i].length : x[i]]));
    layer.sort((a, b) => want.get(a) - want.get(b));
    settle(layer, layer.map(i => want.get(i)));
  };
  // Returns the weight of the wire between i and j. Lanes and chains have higher weights, so that they become straight.
  const chain = i => up[i].length < 2 && down[i].length < 2;
  const pull = (i, j) => lane[i] && lane[j] || chain(i) && chain(j) ? 8 : lane[i] || lane[j] ? 3 : 1;
  const straighten = layer => settle(layer, layer.map(i => {
    let sum = 0, all = 0;
    for (const near of [up[i], down[i]]) for (const j of near) { sum += pull(i, j) * x[j]; all += pull(i, j); }
    return all ? sum / all : x[i];
  }));
  const used = layers.filter(layer => layer), upward = used.slice().reverse();
  for (let pass = 0; pass < 4; ++pass) {
    used.forEach(layer => order(layer, up));
    upward.forEach(layer => order(layer, down));
  }
  for (let pass = 0; pass < 12; ++pass) { used.forEach(straighten); upward.forEach(straighten); }
  return { x: widths.map((w, i) => x[i]), routes: routes.map(([reader, source, way]) => [reader, source, way.map(i => [x[i], level[i]])]) };
}

// The contents and size of one body of one side. Positions are relative to the upper left corner of the contents.
class Region {
  constructor(s, body) {
    this.s = s;
    this.nodes = lists[s].map((n, i) => n.body === body ? i : -1).filter(i => i >= 0);
    this.at = new Map(this.nodes.map((i, k) => [i, k]));
    this.frames = new Map();  // maps the index of a node in `nodes` to the regions of its bodies
    this.reads = k => sources(lists[s][this.nodes[k]]).map(i => this.at.get(i)).filter(j => j !== undefined);
  }
  width(k) {
    const frames = this.frames.get(k) || [];
    return Math.max(W, frames.reduce((sum, f) => sum + f.w + 2 * PAD + GAP_X, -GAP_X));
  }
  height(k) {
    const frames = this.frames.get(k) || [];
    return frames.length ? H + GAP_Y / 2 + TITLE + 2 * PAD + Math.max(...frames.map(f => f.h)) : H;
  }
  // Computes all positions. `row` has the row of each node. `top` has the upper edge of each row, followed by
  // the lower edge of the last row.
  settle(row, top) {
    const { x, routes } = place(this.nodes.map((i, k) => this.width(k)), row, this.reads);
    let left = x.length ? Infinity : 0, right = x.length ? -Infinity : W;
    const span = (from, to) => { left = Math.min(left, from); right = Math.max(right, to); };
    x.forEach((m, k) => span(m - this.width(k) / 2, m + this.width(k) / 2));
    routes.forEach(([, , way]) => way.forEach(([m]) => span(m, m)));
    Object.assign(this, { x: x.map(m => m - left), y: row.map(r => top[r]), w: right - left, h: Math.max(H, top.at(-1)) });
    this.wires = routes.map(([reader, source, way]) => ({ reader, source,
      d: origin => this.path(origin, reader, source, way.map(([m, r]) => [m - left, top[r]])) }));
  }
  path([ox, oy], reader, source, way) {
    let px = this.x[source] + ox, py = this.y[source] + this.height(source) + oy, d = `M${px.toFixed(1)} ${py}`;
    [...way, [this.x[reader], this.y[reader]]].forEach(([mx, my], k) => {
      const nx = mx + ox, ny = my + oy;
      if (k < way.length && Math.abs(nx - px) <= 1) return;
      py = Math.max(py, ny - GAP_Y);
      d += `V${py}C${px.toFixed(1)} ${(py + ny) / 2} ${nx.toFixed(1)} ${(py + ny) / 2} ${nx.toFixed(1)} ${ny}`;
      [px, py] = [nx, ny];
    });
    return d;
  }
}

// Lays out the same body of both sides, so that corresponding nodes are in the same row. Returns false if that is not possible.
// `regions` may also contain a body of one side only.
function arrange(regions) {
  const [a, b] = regions, partner = regions.map(r => r.nodes.map(() => -1));
  if (b) b.nodes.forEach((j, k) => {
    const i = a.at.get(twin[1][j]);
    if (i !== undefined) { partner[1][k] = i; if (partner[0][i] < 0) partner[0][i] = k; }
  });
  const bodies = (r, k) => lists[r.s][r.nodes[k]].bodies;
  const nest = (list, keys) => bodies(list[0], keys[0]).forEach((body, n) => {
    const inner = list.map((r, t) => new Region(r.s, bodies(r, keys[t])[n]));
    if (!arrange(inner)) inner.forEach(r => arrange([r]));
    list.forEach((r, t) => r.frames.set(keys[t], [...r.frames.get(keys[t]) || [], inner[t]]));
  });
  regions.forEach((r, t) => r.frames.clear());
  regions.forEach((r, t) => r.nodes.forEach((i, k) => {
    const j = partner[t][k], both = j >= 0 && partner[1 - t][j] === k && bodies(regions[1 - t], j).length === bodies(r, k).length;
    if (!both) nest([r], [k]);
    else if (t === 0) nest(regions, [k, j]);
  }));
  const group = regions.map((r, t) => r.nodes.map((i, k) => t === 0 ? k : partner[1][k] >= 0 ? partner[1][k] : a.nodes.length + k));
  const row = rows(group, (t, k) => regions[t].reads(k));
  if (!row) return false;
  const tall = [];
  regions.forEach((r, t) => row[t].forEach((at, k) => { tall[at] = Math.max(tall[at] || H, r.height(k)); }));
  const top = [0];
  for (let r = 0; r < tall.length; ++r) top.push(top[r] + (tall[r] || H) + (r + 1 < tall.length ? GAP_Y : 0));
  regions.forEach((r, t) => r.settle(row[t], top));
  return true;
}

// Returns the drawing of a side: `at` (the upper left corner of each node's box), `wires`, `frames` (outer frames first) and `box` (its
// size).
function flatten(region) {
  const out = { at: [], wires: [], frames: [], box: { x: 0, y: 0, w: region.w, h: region.h } };
  const walk = (r, ox, oy) => {
    r.nodes.forEach((i, k) => {
      out.at[i] = { x: r.x[k] - W / 2 + ox, y: r.y[k] + oy };
      let x = r.x[k] - r.width(k) / 2 + ox;
      const frames = r.frames.get(k) || [], all = frames.reduce((sum, f) => sum + f.w + 2 * PAD + GAP_X, -GAP_X);
      x += (r.width(k) - Math.max(all, 0)) / 2;
      const tall = Math.max(0, ...frames.map(f => f.h));
      frames.forEach((f, n) => {
        const y = r.y[k] + H + GAP_Y / 2 + oy, w = f.w + 2 * PAD;
        out.frames.push({ body: lists[r.s][i].bodies[n], x, y, w, h: TITLE + 2 * PAD + tall });
        walk(f, x + PAD, y + TITLE + PAD);
        x += w + GAP_X;
      });
    });
    r.wires.forEach(w => out.wires.push({ reader: r.nodes[w.reader], source: r.nodes[w.source], d: w.d([ox, oy]) }));
  };
  walk(region, 0, 0);
  return out;
}

// Lays out both sides. If `together` is true, corresponding nodes are in the same row. Returns null if that
// is not possible.
function layOutSides(together) {
  const regions = lists.map((n, s) => new Region(s, -1));
  if (together) return arrange(regions) ? regions.map(flatten) : null;
  regions.forEach(r => arrange([r]));
  return regions.map(flatten);
}
