// Builds the graphs before and after optimization as lists of nodes, and finds corresponding nodes.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

// Returns the nodes of a side, followed by its ports. A port is an input, an output or a captured value of a
// body, and is drawn as a node. In the result, all inputs of a node come from nodes or ports of the same
// body. If a node has bodies, its list `captures` contains the nodes whose values these bodies read.
function withPorts(side) {
  const all = side.nodes.map(n => ({ ...n, inputs: n.inputs.map(v => ({ ...v })), captures: [], bodies: [] }));
  const place = new Map(), key = (body, v) => `${body}\n${v.name}`;
  const port = (op, body, v, inputs, outputs) => all.push({ port: true, op, body, name: v.name, origin: "", rule: "", attrs: [], flops: 0,
    bytes: 0, ms: 0, captures: [], bodies: [], inputs, outputs }) - 1;
  side.bodies.forEach((b, k) => all[b.owner].bodies.push(k));
  const graphs = [{ body: -1, ...side }, ...side.bodies.map((b, k) => ({ body: k, ...b }))];
  for (const { body, inputs } of graphs) for (const v of inputs) place.set(key(body, v), port("input", body, v, [], [v]));
  // Returns the node or port of `body` that provides the value. Returns -1 for a constant and for an absent input.
  const provider = (body, v) => {
    if (v.constant || !v.name && v.from < 0) return -1;
    if (v.from >= 0 && all[v.from].body === body) return v.from;
    const known = place.get(key(body, v));
    if (known !== undefined || body < 0) return known ?? -1;
    const owner = all[side.bodies[body].owner], from = provider(owner.body, v);
    if (from >= 0 && !owner.captures.includes(from)) owner.captures.push(from);
    const index = port("captured", body, v, [], [v]);
    Object.assign(all[index], { comes_from: from });
    place.set(key(body, v), index);
    return index;
  };
  side.nodes.forEach((n, i) => all[i].inputs.forEach(v => { v.from = provider(n.body, v); }));
  for (const { body, outputs } of graphs) for (const v of outputs) port("output", body, v, [{ ...v, from: provider(body, v) }], []);
  return all;
}

// Returns the nodes of the same body that a node reads, without duplicates.
const sources = n => [...new Set([...n.inputs.map(v => v.from), ...n.captures])].filter(i => i >= 0);

// Returns the keys by which the other side finds a node. The keys are the names of its outputs. The key of a
// port for an output or a captured value also contains the kind of port.
const marks = n => n.port && n.op !== "input" ? [`${n.op}\n${n.name}`] : n.outputs.map(v => v.name).filter(name => name);

// Returns a map from keys to nodes of a body, or of all bodies if `body` is undefined. If `unique` is true,
// omits keys that several nodes have.
function indexBy(nodes, body, keys, unique) {
  const by = new Map(), twice = new Set();
  nodes.forEach((n, i) => {
    if (body !== undefined && n.body !== body) return;
    for (const k of keys(n)) if (!by.has(k)) by.set(k, i); else twice.add(k);
  });
  if (unique) twice.forEach(k => by.delete(k));
  return by;
}

// Returns two lists with the counterpart of each node of `before` and of each node of `after`. -1 means that
// there is none. The counterpart of an unchanged node has the same name and origin. The counterpart of
// another node has an output of the same name. It is searched first in the same body and then, if the name is
// unique, in all bodies. Several nodes can have the same counterpart.
function twins(before, after) {
  const found = [before.map(() => -1), after.map(() => -1)];
  const join = (i, j) => { if (found[0][i] < 0) found[0][i] = j; if (found[1][j] < 0) found[1][j] = i; };
  const imported = n => n.port || n.rule || !n.name && !n.origin ? [] : [`${n.name}\n${n.origin}\n${n.op}`];
  const match = (here, there) => here.forEach((i, k) => { if (there.has(k)) join(i, there.get(k)); });
  const pair = (b0, b1) => {
    match(indexBy(before, b0, imported, true), indexBy(after, b1, imported, true));
    match(indexBy(before, b0, marks), indexBy(after, b1, marks));
    before.forEach((n, i) => {
      if (n.body !== b0 || !n.bodies.length || found[0][i] < 0) return;
      const other = after[found[0][i]];
      if (other.bodies.length === n.bodies.length) n.bodies.forEach((b, k) => pair(b, other.bodies[k]));
    });
  };
  pair(-1, -1);
  const left = [before, after].map((nodes, s) => new Set(nodes.filter((n, i) => found[s][i] < 0)));
  match(...[before, after].map((nodes, s) => indexBy(nodes, undefined, n => left[s].has(n) ? marks(n) : [], true)));
  return found;
}

// Returns for each node the first node with the same op, attributes and inputs, which may be the node itself.
function firstOfSame(nodes, count) {
  const seen = new Map(), first = nodes.map((n, i) => i);
  for (let i = 0; i < count; ++i) {
    const n = nodes[i];
    if (n.bodies.length) continue;
    const reads = n.inputs.map(v => v.from < 0 ? v.name : v.from < count ? [first[v.from], nodes[v.from].outputs.findIndex(o => o.name === v.name)] : [v.from]);
    const key = JSON.stringify([n.body, n.op, n.attrs, reads, n.outputs.map(o => o.type)]);
    if (seen.has(key)) first[i] = seen.get(key);
    else seen.set(key, i);
  }
  return first;
}

// Returns two lists with an entry for each node of `after`:
// parts: the nodes of `before` that the node replaces. These are all nodes between its inputs and its result, except nodes that are
// folded to constants, that return their input unchanged, or that duplicate another node.
// helps: the node that reads the value of the node, if this value does not exist in `before`. Otherwise -1.
function workOf([before, after], [twin0, twin1], same) {
  const known = new Set(before.flatMap(n => n.outputs.map(v => v.name))), helps = after.map(() => -1);
  const ends = j => before[j].port || twin0[j] >= 0 || before[j].fixed || same[j] !== j && twin0[same[j]] >= 0;
  const makers = after.map(() => []);
  twin0.forEach((a, j) => { if (a >= 0 && !before[j].port) makers[a].push(j); });
  const parts = after.map((root, a) => {
    if (root.port || twin1[a] < 0 || before[twin1[a]].port) return [];
    if (!root.rule) return [twin1[a]];
    const reads = new Set(), inside = new Set([a]), work = new Set(makers[a]);
    for (const k of inside) for (const v of after[k].inputs) {
      if (known.has(v.name)) reads.add(v.name);
      else if (v.from >= 0 && !after[v.from].port) inside.add(v.from);
    }
    inside.forEach(k => { if (k !== a && helps[k] < 0) helps[k] = a; });
    for (const j of work) for (const v of before[j].inputs)
      if (v.from >= 0 && !reads.has(v.name) && !ends(v.from)) work.add(v.from);
    const busy = [...work].filter(j => !before[j].passes_on);
    return busy.length ? busy : [twin1[a]];
  });
  return { parts, helps };
}

const lists = data.sides.map(withPorts);
const twin = twins(...lists);
const firstSame = firstOfSame(lists[0], data.sides[0].nodes.length);
const { parts, helps } = workOf(lists, twin, firstSame);
// For each node of `before`, the node of `after` into which it is fused together with other nodes. -1 if
// there is no such node.
const fused = lists[0].map(() => -1);
parts.forEach((list, a) => { if (list.length > 1) list.forEach(j => { if (fused[j] < 0) fused[j] = a; }); });

const kept = new Set(parts.flat());

// Returns the state of a node. A node of `before` is "" (unchanged), "fused" (into a node of `after`) or
// "gone". A node of `after` is "" (unchanged) or "made" (by a rule).
const stateOf = (s, i) => lists[s][i].port ? "" : s === 1 ? (lists[1][i].rule ? "made" : "") : fused[i] >= 0 ? "fused" : kept.has(i) ? "" : "gone";

function fateOf(i) {
  const n = lists[0][i];
  if (n.fixed) return "removed: shapes and constants determine it";
  if (n.passes_on) return "removed: it returns its input unchanged";
  if (firstSame[i] !== i) return `removed: the same as ${lists[0][firstSame[i]].op} ${lists[0][firstSame[i]].name}`;
  return "removed";
}

// Returns the nodes on the other side that correspond to a node. These are its counterpart, the node into
// which it is fused, or the nodes that it replaces.
function counterparts(s, i) {
  if (s === 0) return fused[i] >= 0 ? [fused[i]] : twin[0][i] >= 0 && stateOf(0, i) !== "gone" ? [twin[0][i]] : [];
  const own = helps[i] >= 0 ? parts[helps[i]] : parts[i];
  return own.length ? own : twin[1][i] >= 0 ? [twin[1][i]] : [];
}
