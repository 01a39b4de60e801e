// Moves Transposes through ops that accept any order of dims, if fewer Transposes then remain. These rules
// run after the recompose stage, because patterns there match Transposes.
#include <algorithm>
#include <map>

#include "passes/replace/permuted.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

constexpr size_t kMaxRegion = 64;

bool IsTranspose(const Node& node, const Permutation& perm) {
  return IsOp(node, "Transpose") && PermutationOf(node) == perm;
}

// A connected set of nodes that can run with permuted dims.
class Region {
 public:
  // A Transpose with the permutation `exit` that reads a value of the region is an exit of the region. If
  // `exit` is empty, the region has no exits.
  explicit Region(Permutation exit) : exit_(std::move(exit)) {}

  // Adds the node without a check of its readers. Then adds the producers of operands that can be added.
  void Start(Node* node) {
    nodes_.push_back(node);
    Grow();
  }
  // Like Start, but also adds the readers of the node, the readers of their results, and so on. Returns false
  // if a reader is not an exit and cannot be added.
  bool StartClosed(Node* node) {
    if (!Add(node)) return false;
    Grow();
    return true;
  }

  bool Inside(const Node* node) const {
    return std::find(nodes_.begin(), nodes_.end(), node) != nodes_.end();
  }

  // Non-constant operands that nodes outside the region produce.
  std::vector<Value*> Leaves() const {
    std::vector<Value*> leaves;
    for (const Node* node : nodes_)
      for (Value* v : PermutedOperands(*node))
        if (!v->is_constant() && !(v->producer && Inside(v->producer)) &&
            std::find(leaves.begin(), leaves.end(), v) == leaves.end())
          leaves.push_back(v);
    return leaves;
  }

  std::vector<Node*> Exits() const {
    std::vector<Node*> exits;
    for (const Node* node : nodes_)
      for (const Value* v : node->outputs())
        for (const auto& [reader, input] : v->uses)
          if (IsExit(*reader, *node)) exits.push_back(reader);
    return exits;
  }

  // Returns the number of removed Transposes minus the number of added Transposes if the region runs with
  // dims permuted by `perm`.
  int Gain(const Permutation& perm) const {
    int gain = static_cast<int>(Exits().size());
    for (const Value* v : Leaves()) {
      const Node* transpose = MadeBy(v, "Transpose");
      const auto own = transpose ? PermutationOf(*transpose) : std::nullopt;
      gain -= !own || !IsIdentity(Compose(*own, perm));
      gain += own && ReadInsideOnly(*v);
    }
    return gain;
  }

 private:
  void Grow() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (const Value* v : PermutedOperands(*nodes_[i]))
        if (v->producer && v->graph == nodes_[i]->graph && !Inside(v->producer)) Add(v->producer);
  }

  // Adds the node, its readers, the readers of their results, and so on. If one of these nodes cannot be
  // permuted, adds nothing and returns false.
  bool Add(Node* node) {
    const size_t before = nodes_.size();
    nodes_.push_back(node);
    for (size_t i = before; i < nodes_.size(); ++i)
      if (nodes_.size() > kMaxRegion || !Permutable(*nodes_[i]) || !AddReaders(*nodes_[i])) {
        nodes_.resize(before);
        return false;
      }
    return true;
  }

  static bool Permutable(const Node& node) {
    return !IsOp(node, "Transpose") && !PermutedOperands(node).empty();
  }

  bool AddReaders(const Node& node) {
    for (const Value* v : node.outputs()) {
      if (v->output_uses) return false;
      for (const auto& [reader, input] : v->uses) {
        if (reader->graph != node.graph) return false;
        if (Inside(reader) || IsExit(*reader, node)) continue;
        const auto operands = PermutedOperands(*reader);  // v may be another input, such as bounds or axes
        if (std::find(operands.begin(), operands.end(), v) == operands.end()) return false;
        nodes_.push_back(reader);
      }
    }
    return true;
  }

  bool IsExit(const Node& reader, const Node& node) const {
    return !exit_.empty() && reader.graph == node.graph && IsTranspose(reader, exit_);
  }
  bool ReadInsideOnly(const Value& v) const {
    return v.output_uses == 0 &&
           std::all_of(v.uses.begin(), v.uses.end(), [&](const auto& use) { return Inside(use.first); });
  }

  Permutation exit_;
  std::vector<Node*> nodes_;
};

// Emits a region with permuted dims. Read(v) emits the nodes that compute v with permuted dims, and returns
// the new value.
class Permuter {
 public:
  Permuter(Rewrite& r, const Region& region, Permutation perm)
      : r_(r), region_(region), perm_(std::move(perm)) {}

  Value* Read(Value* v) {
    const auto it = made_.find(v);
    if (it != made_.end()) return it->second;
    if (!v->producer || !region_.Inside(v->producer)) return made_[v] = Leaf(v);
    const auto outputs = EmitPermuted(r_, *v->producer, perm_, [this](Value* x) { return Read(x); });
    for (size_t i = 0; i < outputs.size(); ++i) made_[v->producer->outputs()[i]] = outputs[i];
    return made_[v];
  }

 private:
  Value* Leaf(Value* v) {
    Permutation perm = perm_;
    if (const Node* transpose = MadeBy(v, "Transpose")) {
      perm = Compose(*PermutationOf(*transpose), perm_);
      v = transpose->input(0);
    }
    return IsIdentity(perm) ? v : r_.Op("Transpose", {v}, {{"perm", perm}});
  }

  Rewrite& r_;
  const Region& region_;
  Permutation perm_;
  std::map<const Value*, Value*> made_;
};

bool PullTranspose(Rewrite& r) {
  const auto perm = PermutationOf(r.root());
  Node* maker = r.root().input(0)->producer;
  if (!perm || !maker || maker->graph != &r.graph() || PermutedOperands(*maker).empty())
    return r.Skip("the input is not made by an op that accepts any order of dims");
  Region region(*perm);
  if (!region.StartClosed(maker)) return r.Skip("another reader needs the present order of dims");
  if (region.Gain(*perm) <= 0) return r.Skip("the number of Transposes would not decrease");
  Permuter permuter(r, region, *perm);
  std::vector<std::pair<Value*, Value*>> pairs;
  for (Node* exit : region.Exits()) pairs.emplace_back(exit->output(0), permuter.Read(exit->input(0)));
  if (!r.ReplaceValues(pairs)) return false;
  const Status sorted = r.graph().SortNodes();  // new nodes may come after readers of the other exits
  TERN_CHECK(sorted.ok(), sorted.message());
  return true;
}

bool PushTransposes(Rewrite& r) {
  Node& root = r.root();
  if (PermutedOperands(root).empty()) return r.Skip("the operands have different ranks");
  Region region({});
  region.Start(&root);
  for (const Value* v : region.Leaves()) {
    const Node* transpose = MadeBy(v, "Transpose");
    const auto perm = transpose ? PermutationOf(*transpose) : std::nullopt;
    if (!perm || region.Gain(Inverse(*perm)) <= 1) continue;
    Value* y = Permuter(r, region, Inverse(*perm)).Read(root.output(0));
    return r.Replace(r.Op("Transpose", {y}, {{"perm", *perm}}));
  }
  return r.Skip("the number of Transposes would not decrease");
}

}  // namespace

TERN_RULE(PullTranspose) {
  return Rule{.summary =
                  "a Transpose moves up through elementwise ops, Concat, Split, Slice, Pad, Reduce and "
                  "Softmax until it cancels with other Transposes",
              .level = Level::kExtended,
              .roots = {"Transpose"},
              .apply = PullTranspose,
              .example = R"(graph @g(%x: f32[N,4,4,3], %w: f32[3,3,1,1]) -> (%y) {
  %t = Transpose(%x) {perm=[0,3,1,2]}
  %y = Tanh(Transpose(Relu(%t)) {perm=[0,2,3,1]})
})"};
}

TERN_RULE(PushTransposes) {
  return Rule{.summary = "Transposes of several operands move after the op and become one Transpose",
              .level = Level::kExtended,
              .roots = {"Binary", "QBinary", "Where", "Concat", "Eltwise"},
              .apply = PushTransposes,
              .example = R"(graph @g(%a: f32[N,4,3], %b: f32[N,4,3]) -> (%y) {
  %y = Transpose(%a) {perm=[0,2,1]} + Relu(Transpose(%b) {perm=[0,2,1]})
})"};
}

}  // namespace tern
