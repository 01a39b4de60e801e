// Exports tree ensembles as TreeEnsembleRegressor or TreeEnsembleClassifier of ai.onnx.ml. Exports them as
// TreeEnsemble (version 5) if the older operators do not support a feature.
#include <limits>

#include "export/onnx/ops/attr_values.h"

namespace tern::onnx {
namespace {

constexpr int64_t kMemberMode = 6;

struct Forest {
  std::vector<int64_t> roots, feature, mode, on_true, on_false, missing, leaf_start, target, member_start;
  std::vector<double> value, weight, member;
  bool wide = false;

  explicit Forest(const TernNode& n) {
    const Attrs& a = n.attrs();
    roots = a.Ints("roots"), feature = a.Ints("feature"), mode = a.Ints("mode");
    on_true = a.Ints("true_child"), on_false = a.Ints("false_child"), missing = a.Ints("missing_true");
    leaf_start = a.Ints("leaf_start"), target = a.Ints("vote_target"), member_start = a.Ints("member_start");
    const auto read = [&](const char* name, std::vector<double>& out) {
      const Tensor t = TensorOf(n, name);
      if (!t.defined()) return;
      wide = wide || t.dtype() == DType::kF64;
      out = ToDoubles(t);
    };
    read("value", value);
    read("vote_weight", weight);
    read("member", member);
  }
};

// Adds v to `attrs` as a list of f32 named NAME. If `wide` is true, adds an f64 tensor named NAME_as_tensor
// instead.
void AddFloats(const std::string& name, const std::vector<double>& v, bool wide, AttrList& attrs) {
  if (wide)
    attrs.emplace_back(name + "_as_tensor", Tensor::Of(DType::kF64, {static_cast<int64_t>(v.size())}, v));
  else
    attrs.emplace_back(name, v);
}

// Builds the lists nodes_* of the operators before version 5. The nodes of a tree are numbered in the order
// in which AddTree visits them. `votes` is the prefix of the lists of votes: "target" or "class".
class OldLists {
 public:
  OldLists(const Forest& f, std::string votes) : f_(f), votes_(std::move(votes)) {
    for (size_t t = 0; t < f.roots.size(); ++t) AddTree(static_cast<int64_t>(t), f.roots[t]);
  }

  AttrList Attrs() const {
    AttrList attrs = {{"nodes_treeids", trees_},       {"nodes_nodeids", ids_},
                      {"nodes_featureids", features_}, {"nodes_modes", modes_},
                      {"nodes_truenodeids", trues_},   {"nodes_falsenodeids", falses_}};
    AddFloats("nodes_values", values_, f_.wide, attrs);
    if (!f_.missing.empty()) attrs.emplace_back("nodes_missing_value_tracks_true", missing_);
    attrs.insert(attrs.end(), {{votes_ + "_treeids", vote_trees_},
                               {votes_ + "_nodeids", vote_nodes_},
                               {votes_ + "_ids", vote_ids_}});
    AddFloats(votes_ + "_weights", weights_, f_.wide, attrs);
    return attrs;
  }

 private:
  // Appends node `at` of the forest and its votes to the lists. AddTree sets the children of the node later.
  // Returns the index of the node in the lists.
  size_t AddOne(int64_t tree, int64_t id, int64_t at) {
    static const char* const kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const bool leaf = at < 0;
    const auto i = static_cast<size_t>(leaf ? 0 : at);
    trees_.push_back(tree);
    ids_.push_back(id);
    features_.push_back(leaf ? 0 : f_.feature[i]);
    modes_.push_back(leaf ? "LEAF" : kModes[f_.mode[i]]);
    values_.push_back(leaf ? 0 : f_.value[i]);
    missing_.push_back(leaf || f_.missing.empty() ? 0 : f_.missing[i]);
    trues_.push_back(0);
    falses_.push_back(0);
    const auto leaf_number = static_cast<size_t>(leaf ? -1 - at : 0);
    for (auto v = leaf ? f_.leaf_start[leaf_number] : 0; leaf && v < f_.leaf_start[leaf_number + 1]; ++v) {
      vote_trees_.push_back(tree);
      vote_nodes_.push_back(id);
      vote_ids_.push_back(f_.target[static_cast<size_t>(v)]);
      weights_.push_back(f_.weight[static_cast<size_t>(v)]);
    }
    return trees_.size() - 1;
  }

  void AddTree(int64_t tree, int64_t root) {
    struct Todo {
      int64_t at;
      size_t parent;
      bool on_true;
    };
    constexpr size_t kNone = SIZE_MAX;
    int64_t next = 0;
    std::vector<Todo> todo = {{root, kNone, false}};
    while (!todo.empty()) {
      const Todo now = todo.back();
      todo.pop_back();
      const size_t place = AddOne(tree, next, now.at);
      if (now.parent != kNone) (now.on_true ? trues_ : falses_)[now.parent] = next;
      ++next;
      if (now.at < 0) continue;
      todo.push_back({f_.on_false[static_cast<size_t>(now.at)], place, false});
      todo.push_back({f_.on_true[static_cast<size_t>(now.at)], place, true});
    }
  }

  const Forest& f_;
  std::string votes_;
  std::vector<int64_t> trees_, ids_, features_, trues_, falses_, missing_, vote_trees_, vote_nodes_,
      vote_ids_;
  std::vector<std::string> modes_;
  std::vector<double> values_, weights_;
};

void AddBase(const TernNode& n, AttrList& attrs) {
  const Tensor wide = TensorOf(n, "base_wide");
  if (wide.defined())
    AddFloats("base_values", ToDoubles(wide), true, attrs);
  else if (!Doubles(n, "base").empty())
    attrs.emplace_back("base_values", Doubles(n, "base"));
}

Status Classifier(TernNode& n) {
  const Forest f(n);
  for (int64_t mode : f.mode)
    if (mode == kMemberMode) return n.NotExportable("a classifier with a membership test");
  AttrList attrs = OldLists(f, "class").Attrs();
  attrs.insert(attrs.end(), {{"classlabels_int64s", n.attrs().Ints("label_ints")},
                             {"classlabels_strings", Texts(n, "label_texts")},
                             {"post_transform", Upper(n.attrs().Text("transform"))}});
  AddBase(n, attrs);
  std::vector<std::string> outputs = n.Outs();
  if (outputs.size() < 2) outputs.push_back(n.Temp());
  n.Emit("TreeEnsembleClassifier", n.Ins(), outputs, WithoutEmpty(attrs), kMl);
  return {};
}

int64_t PlaceOf(const TernNode& n, const char* attr, std::initializer_list<const char*> names) {
  const std::string text = n.attrs().Text(attr);
  int64_t i = 0;
  for (const char* name : names) {
    if (text == name) return i;
    ++i;
  }
  return 0;
}

// Returns the members of all sets in one list, with a NaN between two sets.
std::vector<double> JoinedSets(const Forest& f) {
  std::vector<double> all;
  for (size_t s = 0; s + 1 < f.member_start.size(); ++s) {
    if (s) all.push_back(std::numeric_limits<double>::quiet_NaN());
    all.insert(all.end(), f.member.begin() + f.member_start[s], f.member.begin() + f.member_start[s + 1]);
  }
  return all;
}

Status NewTable(TernNode& n, const Forest& f) {
  if (!Doubles(n, "base").empty() || TensorOf(n, "base_wide").defined())
    return n.NotExportable("TreeEnsemble (version 5) has no base values");
  for (size_t i = 0; i + 1 < f.leaf_start.size(); ++i)
    if (f.leaf_start[i + 1] != f.leaf_start[i] + 1)
      return n.NotExportable("a leaf has ", f.leaf_start[i + 1] - f.leaf_start[i],
                             " votes, but must have one in TreeEnsemble (version 5)");
  for (int64_t r : f.roots)
    if (r < 0)
      return n.NotExportable("a tree has only a leaf, which TreeEnsemble (version 5) does not support");
  const DType type = n.TypeOf(0).dtype;
  const auto tensor = [&](const std::vector<double>& v) {
    return Tensor::Of(type, {static_cast<int64_t>(v.size())}, v);
  };
  AttrList attrs = {
      {"tree_roots", f.roots},
      {"n_targets", n.attrs().Int("targets")},
      {"nodes_featureids", f.feature},
      {"aggregate_function", PlaceOf(n, "aggregate", {"average", "sum", "min", "max"})},
      {"post_transform", PlaceOf(n, "transform", {"none", "softmax", "logistic", "softmax_zero", "probit"})},
      {"nodes_modes",
       Tensor::Of(DType::kU8, {static_cast<int64_t>(f.mode.size())}, {f.mode.begin(), f.mode.end()})},
      {"nodes_splits", tensor(f.value)},
      {"leaf_weights", tensor(f.weight)},
      {"leaf_targetids", f.target}};
  if (!f.missing.empty()) attrs.emplace_back("nodes_missing_value_tracks_true", f.missing);
  if (!f.member.empty()) attrs.emplace_back("membership_values", tensor(JoinedSets(f)));
  const auto children = [&](const std::string& side, const std::vector<int64_t>& list) {
    std::vector<int64_t> ids, leaves;
    for (int64_t c : list) {
      ids.push_back(c < 0 ? -1 - c : c);
      leaves.push_back(c < 0);
    }
    attrs.insert(attrs.end(), {{"nodes_" + side + "nodeids", ids}, {"nodes_" + side + "leafs", leaves}});
  };
  children("true", f.on_true);
  children("false", f.on_false);
  n.NeedMlOpset(5);
  n.Emit("TreeEnsemble", n.Ins(), n.Outs(), attrs, kMl);
  return {};
}

Status Ensemble(TernNode& n) {
  const Forest f(n);
  if (!f.member_start.empty() || n.attrs().Type("to") != DType::kF32) return NewTable(n, f);
  AttrList attrs = OldLists(f, "target").Attrs();
  attrs.insert(attrs.end(), {{"n_targets", n.attrs().Int("targets")},
                             {"aggregate_function", Upper(n.attrs().Text("aggregate"))},
                             {"post_transform", Upper(n.attrs().Text("transform"))}});
  AddBase(n, attrs);
  n.Emit("TreeEnsembleRegressor", n.Ins(), n.Outs(), attrs, kMl);
  return {};
}

}  // namespace

TERN_EXPORTERS(ml_trees) {
  table.Add("TreeEnsembleClassifier", Classifier);
  table.Add("TreeEnsemble", Ensemble);
}

}  // namespace tern::onnx
