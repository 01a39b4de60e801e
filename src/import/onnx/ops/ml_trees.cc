// Converts the tree ensembles of ai.onnx.ml: TreeEnsemble (version 5), and the older TreeEnsembleRegressor
// and TreeEnsembleClassifier. The older operators identify a node by the id of its tree and its id in the
// tree.
#include <algorithm>
#include <cmath>
#include <map>

#include "import/onnx/ops/ml_attrs.h"

namespace tern::onnx {
namespace {

// The arrays that describe an ensemble in Tern (see ops/ml/forest.h).
struct Table {
  std::vector<int64_t> roots, feature, mode, on_true, on_false, missing, leaf_start = {0}, target,
                                                                         member_start;
  Tensor value, weight, member;

  AttrList Attrs() const {
    AttrList list = {{"roots", roots},          {"feature", feature},          {"mode", mode},
                     {"value", value},          {"true_child", on_true},       {"false_child", on_false},
                     {"missing_true", missing}, {"leaf_start", leaf_start},    {"vote_target", target},
                     {"vote_weight", weight},   {"member_start", member_start}};
    if (member.defined()) list.emplace_back("member", member);
    return list;
  }
};

Tensor Wide(const std::vector<double>& v) {
  return Tensor::Of(DType::kF64, {static_cast<int64_t>(v.size())}, v);
}
Tensor Numbers(const std::vector<double>& v, DType type) {
  return Tensor::Of(type, {static_cast<int64_t>(v.size())}, v);
}

// Reads the attribute NAME_as_tensor if it is present, otherwise the list of floats NAME.
Result<std::vector<double>> FloatList(const OnnxNode& n, const std::string& name) {
  if (n.HasAttr(name + "_as_tensor")) {
    TERN_ASSIGN(const Tensor t, n.TensorAttr(name + "_as_tensor"));
    if (!IsFloat(t.dtype()))
      return n.Bad("attribute '", name, "_as_tensor' must be floats, got ", t.Describe());
    return ToDoubles(t);
  }
  const auto floats = n.Floats(name);
  return std::vector<double>(floats.begin(), floats.end());
}

// Returns the type in which thresholds are compared and weights are added.
DType WorkType(const OnnxNode& n) { return n.TypeOf(0) == DType::kF64 ? DType::kF64 : DType::kF32; }

// Reads the attributes of versions before 5, which list interior nodes and leaves together.
class OldTable {
 public:
  // `votes` is the prefix of the attributes that describe votes: "target" or "class". If `one_vote` is true,
  // only the first vote of a leaf counts. onnxruntime does the same if there is a single target, because
  // converters then write the same vote several times.
  OldTable(OnnxNode& n, const char* votes, bool one_vote) : n_(n), votes_(votes), one_vote_(one_vote) {}

  Result<Table> Read() {
    TERN_TRY(ReadNodes());
    TERN_TRY(ReadVotes());
    TERN_TRY(FindRoots());
    for (size_t i = 0; i < trees_.size(); ++i) TERN_TRY(AddNode(i));
    for (size_t i : roots_) out_.roots.push_back(place_[i]);
    const DType work = WorkType(n_);
    out_.value = Numbers(values_, work);
    out_.weight = Numbers(weights_, work);
    return std::move(out_);
  }

 private:
  using Id = std::pair<int64_t, int64_t>;  // tree, node

  Status ReadNodes() {
    trees_ = n_.Ints("nodes_treeids");
    ids_ = n_.Ints("nodes_nodeids");
    features_ = n_.Ints("nodes_featureids");
    modes_ = n_.Texts("nodes_modes");
    trues_ = n_.Ints("nodes_truenodeids");
    falses_ = n_.Ints("nodes_falsenodeids");
    missing_ = n_.Ints("nodes_missing_value_tracks_true");
    TERN_ASSIGN(thresholds_, FloatList(n_, "nodes_values"));
    const size_t count = trees_.size();
    if (count == 0) return n_.Bad("there are no nodes");
    for (size_t size : {ids_.size(), features_.size(), modes_.size(), trues_.size(), falses_.size(),
                        thresholds_.size(), missing_.empty() ? count : missing_.size()})
      if (size != count)
        return n_.Bad("the attributes nodes_* must have equal lengths, got ", size, " and ", count);
    for (size_t i = 0; i < count; ++i)
      if (!index_.emplace(Id(trees_[i], ids_[i]), i).second)
        return n_.Bad("node ", ids_[i], " of tree ", trees_[i], " is given twice");
    Number();
    return {};
  }

  bool Leaf(size_t i) const { return modes_[i] == "LEAF"; }

  // Fills place_. Interior nodes get the numbers 0, 1, 2, …, and leaves get the numbers -1, -2, -3, ….
  void Number() {
    int64_t nodes = 0, leaves = 0;
    for (size_t i = 0; i < trees_.size(); ++i) place_.push_back(Leaf(i) ? -1 - leaves++ : nodes++);
  }

  Status ReadVotes() {
    const std::string prefix = votes_;
    const auto tree = n_.Ints(prefix + "_treeids"), node = n_.Ints(prefix + "_nodeids"),
               target = n_.Ints(prefix + "_ids");
    TERN_ASSIGN(auto weight, FloatList(n_, prefix + "_weights"));
    if (node.size() != tree.size() || target.size() != tree.size() || weight.size() != tree.size())
      return n_.Bad("attributes ", prefix, "_* have ", tree.size(), ", ", node.size(), ", ", target.size(),
                    " and ", weight.size(), " entries");
    for (size_t i = 0; i < tree.size(); ++i) {
      auto at = index_.find(Id(tree[i], node[i]));
      if (at == index_.end())
        return n_.Bad("a vote belongs to node ", node[i], " of tree ", tree[i], ", which does not exist");
      auto& votes = votes_of_[at->second];
      if (votes.empty() || !one_vote_) votes.emplace_back(target[i], weight[i]);
    }
    return {};
  }

  // Finds the root of each tree, which is the first node that is not a child of another node.
  Status FindRoots() {
    std::vector<char> child(trees_.size(), 0);
    for (size_t i = 0; i < trees_.size(); ++i) {
      if (Leaf(i)) continue;
      for (int64_t id : {trues_[i], falses_[i]}) {
        auto at = index_.find(Id(trees_[i], id));
        if (at == index_.end())
          return n_.Bad("node ", ids_[i], " of tree ", trees_[i], " has the child node ", id,
                        ", which does not exist");
        child[at->second] = 1;
      }
    }
    constexpr size_t kNone = SIZE_MAX;
    std::map<int64_t, size_t> place;  // tree id → number of the tree, in the order of first appearance
    for (size_t i = 0; i < trees_.size(); ++i) {
      const size_t tree = place.emplace(trees_[i], place.size()).first->second;
      if (tree == roots_.size()) roots_.push_back(kNone);
      if (!child[i] && roots_[tree] == kNone) roots_[tree] = i;
    }
    for (const auto& [id, tree] : place)
      if (roots_[tree] == kNone) return n_.Bad("the nodes of tree ", id, " form a cycle");
    return {};
  }

  Status AddNode(size_t i) {
    if (Leaf(i)) {
      for (const auto& [target, weight] : votes_of_[i]) {
        out_.target.push_back(target);
        weights_.push_back(weight);
      }
      out_.leaf_start.push_back(static_cast<int64_t>(out_.target.size()));
      return {};
    }
    static const char* const kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto mode = std::find(std::begin(kModes), std::end(kModes), modes_[i]);
    if (mode == std::end(kModes)) return n_.Bad("mode '", modes_[i], "' of node ", ids_[i], " is unknown");
    out_.feature.push_back(features_[i]);
    out_.mode.push_back(mode - std::begin(kModes));
    values_.push_back(thresholds_[i]);
    out_.on_true.push_back(place_[index_.at(Id(trees_[i], trues_[i]))]);
    out_.on_false.push_back(place_[index_.at(Id(trees_[i], falses_[i]))]);
    if (!missing_.empty()) out_.missing.push_back(missing_[i]);
    return {};
  }

  OnnxNode& n_;
  const char* votes_;
  const bool one_vote_;
  std::vector<int64_t> trees_, ids_, features_, trues_, falses_, missing_, place_;
  std::vector<std::string> modes_;
  std::vector<double> thresholds_, values_, weights_;
  std::map<Id, size_t> index_;
  std::map<size_t, std::vector<std::pair<int64_t, double>>> votes_of_;
  std::vector<size_t> roots_;
  Table out_;
};

// Adds the base values, if there are any, to `attrs`. If the model stores them as a tensor, they become the
// attribute `base_wide` (f64). Otherwise they become `base` (f32).
Status AddBase(const OnnxNode& n, AttrList& attrs) {
  TERN_ASSIGN(auto base, FloatList(n, "base_values"));
  if (base.empty()) return {};
  if (n.HasAttr("base_values_as_tensor"))
    attrs.emplace_back("base_wide", Wide(base));
  else
    attrs.emplace_back("base", base);
  return {};
}

Status Regressor(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  TERN_ASSIGN(const Table table, OldTable(n, "target", n.Int("n_targets", 1) == 1).Read());
  TERN_ASSIGN(std::string transform, TransformName(n));
  AttrList attrs = table.Attrs();
  attrs.insert(attrs.end(), {{"targets", n.Int("n_targets", 1)},
                             {"aggregate", LowerCase(n.Text("aggregate_function", "SUM"))},
                             {"transform", transform}});
  TERN_TRY(AddBase(n, attrs));
  n.Out(0, n.b.Op("TreeEnsemble", {n.In(0)}, attrs));
  return {};
}

Status Classifier(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  const size_t labels = n.Ints("classlabels_int64s").size() + n.Texts("classlabels_strings").size();
  TERN_ASSIGN(const Table table, OldTable(n, "class", labels == 1).Read());
  TERN_ASSIGN(std::string transform, TransformName(n));
  AttrList attrs = table.Attrs();
  attrs.insert(attrs.end(), {{"label_ints", n.Ints("classlabels_int64s")},
                             {"label_texts", n.Texts("classlabels_strings")},
                             {"transform", transform}});
  TERN_TRY(AddBase(n, attrs));
  n.Out(n.b.Ops("TreeEnsembleClassifier", {n.In(0)}, attrs, 2));
  return {};
}

// Reads the attributes of version 5. This version stores leaves separately from interior nodes, with one vote
// per leaf. The sets of BRANCH_MEMBER nodes are stored in one list, with NaN after each set.
Result<Table> NewTable(OnnxNode& n) {
  Table t;
  t.roots = n.Ints("tree_roots");
  t.feature = n.Ints("nodes_featureids");
  t.missing = n.Ints("nodes_missing_value_tracks_true");
  TERN_ASSIGN(const Tensor modes, n.TensorAttr("nodes_modes"));
  if (!IsInt(modes.dtype())) return n.Bad("attribute 'nodes_modes' must be integers, got ", modes.Describe());
  t.mode = ToLongs(modes);
  TERN_ASSIGN(t.value, n.TensorAttr("nodes_splits"));
  TERN_ASSIGN(t.weight, n.TensorAttr("leaf_weights"));
  const DType work = WorkType(n);
  for (Tensor* x : {&t.value, &t.weight}) {
    if (!IsFloat(x->dtype())) return n.Bad("thresholds and weights must be floats, got ", x->Describe());
    *x = Numbers(ToDoubles(*x), work);
  }
  t.target = n.Ints("leaf_targetids");
  for (size_t i = 0; i < t.target.size(); ++i) t.leaf_start.push_back(static_cast<int64_t>(i) + 1);
  const auto children = [&](const std::string& side, std::vector<int64_t>& out) -> Status {
    out = n.Ints("nodes_" + side + "nodeids");
    const auto leaf = n.Ints("nodes_" + side + "leafs");
    if (leaf.size() != out.size())
      return n.Bad("nodes_", side, "leafs has ", leaf.size(), " entries, but nodes_", side, "nodeids has ",
                   out.size());
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] < 0) return n.Bad("nodes_", side, "nodeids contains the negative index ", out[i]);
      if (leaf[i]) out[i] = -1 - out[i];
    }
    return {};
  };
  TERN_TRY(children("true", t.on_true));
  TERN_TRY(children("false", t.on_false));
  for (int64_t r : t.roots)
    if (r < 0) return n.Bad("tree_roots contains the negative index ", r);
  if (!n.HasAttr("membership_values")) return t;
  TERN_ASSIGN(const Tensor given, n.TensorAttr("membership_values"));
  if (!IsFloat(given.dtype()))
    return n.Bad("attribute 'membership_values' must be floats, got ", given.Describe());
  std::vector<double> members;
  t.member_start = {0};
  const auto list = ToDoubles(given);
  for (size_t i = 0; i < list.size(); ++i) {
    if (!std::isnan(list[i])) members.push_back(list[i]);
    if (std::isnan(list[i]) || i + 1 == list.size())
      t.member_start.push_back(static_cast<int64_t>(members.size()));
  }
  t.member = Numbers(members, work);
  return t;
}

Status Ensemble(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  TERN_ASSIGN(const Table table, NewTable(n));
  static const char* const kAggregates[] = {"average", "sum", "min", "max"};
  static const char* const kTransforms[] = {"none", "softmax", "logistic", "softmax_zero", "probit"};
  const int64_t aggregate = n.Int("aggregate_function", 1), transform = n.Int("post_transform");
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    return n.Bad("aggregate_function must be 0 to 3 and post_transform 0 to 4, got ", aggregate, " and ",
                 transform);
  AttrList attrs = table.Attrs();
  attrs.insert(attrs.end(), {{"targets", n.Int("n_targets", 1)},
                             {"aggregate", std::string(kAggregates[aggregate])},
                             {"transform", std::string(kTransforms[transform])},
                             {"to", n.TypeOf(0)}});
  n.Out(0, n.b.Op("TreeEnsemble", {n.In(0)}, attrs));
  return {};
}

}  // namespace

TERN_CONVERTERS(ml_trees) {
  table.Add("TreeEnsembleRegressor", Regressor, kMl);
  table.Add("TreeEnsembleClassifier", Classifier, kMl);
  table.Add("TreeEnsemble", Ensemble, kMl);
}

}  // namespace tern::onnx
