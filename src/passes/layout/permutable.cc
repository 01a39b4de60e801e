#include "passes/layout/permutable.h"

#include <algorithm>
#include <numeric>

#include "passes/rewrite/dim_order.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

Shape Permuted(const Shape& s, const Permutation& perm) {
  std::vector<Dim> dims;
  for (int64_t p : perm) dims.push_back(s[static_cast<int>(p)]);
  return Shape(std::move(dims));
}

Dim Product(const std::vector<Dim>& dims, size_t from, size_t to) {
  Dim product(1);
  for (size_t i = from; i < to; ++i) product = product * dims[i];
  return product;
}

// `y` is the shape of a view of a tensor of shape `x`. Returns the number of channel axes of `y`. Returns
// nullopt if an axis of `y` contains axes of `x` of different kinds (batch, channel, spatial).
std::optional<int> ChannelAxesAfterView(const Shape& x, int channel_axes, const Shape& y) {
  if (x.rank() < 2 || y.rank() < 2 || !(x[0] == y[0])) return std::nullopt;
  const auto k = static_cast<size_t>(channel_axes) + 1;
  const Dim channels = Product(x.dims, 1, k), pixels = Product(x.dims, k, x.dims.size());
  for (size_t j = 2; j <= y.dims.size(); ++j)
    if (Product(y.dims, 1, j) == channels && Product(y.dims, j, y.dims.size()) == pixels)
      return static_cast<int>(j) - 1;
  return std::nullopt;
}

// Computes the channels-last form of one node.
class FormBuilder {
 public:
  FormBuilder(const Node& node, const ChannelAxes& axes) : node_(node), axes_(axes) {}

  std::optional<LastForm> Form() {
    const Value* y = node_.output(0);
    if (!node_.subgraphs().empty() || node_.inputs().empty() || !node_.input(0)) return std::nullopt;
    for (const Value* v : node_.outputs())
      if (!v->type.tensor() || !v->type.shape.ranked) return std::nullopt;
    const auto map = AxisMapOf(node_);
    const bool fits = map && JoinsOperands(*map) ? Joined(*map, *y) : Follows(map, *node_.input(0));
    return fits ? std::optional<LastForm>(std::move(form_)) : std::nullopt;
  }

 private:
  bool Begin(const Value& x) {
    if (!x.type.tensor() || x.type.shape.rank() < 3) return false;
    form_.channel_axes = AxesOf(axes_, &x);
    form_.perm = ToLast(x.type.shape.rank(), form_.channel_axes);
    form_.in.assign(node_.inputs().size(), {});
    form_.spread.assign(node_.inputs().size(), false);
    form_.out.assign(node_.outputs().size(), form_.perm);
    form_.out_axes.assign(node_.outputs().size(), form_.channel_axes);
    return true;
  }

  // For ops whose operands broadcast or are concatenated.
  bool Joined(const AxisMap& map, const Value& y) {
    const bool concat = map.operands == AxisMap::Operands::kJoined;
    const int rank = y.type.shape.rank();
    const Value* full = nullptr;  // an operand of full rank, which determines the channel axes
    for (const Value* v : node_.inputs())
      if (v && !v->is_constant() && v->type.shape.rank() == rank && (!full || (AllOnes(full) && !AllOnes(v))))
        full = v;
    if (!full || !Begin(*full)) return false;
    for (size_t i = 0; i < node_.inputs().size(); ++i) {
      const Value* v = node_.inputs()[i];
      if (!v) continue;
      if (!v->type.tensor() || !v->type.shape.ranked || v->type.shape.rank() > rank) return false;
      const bool is_full = v->type.shape.rank() == rank;
      if (concat && !is_full) return false;
      if (AllOnes(v) && !concat) continue;
      if (!is_full || v->is_constant()) {
        form_.spread[i] = true;
        continue;
      }
      if (AxesOf(axes_, v) != form_.channel_axes) return false;
      form_.in[i] = form_.perm;
    }
    return true;
  }

  // For ops whose layout follows from the first operand.
  bool Follows(const std::optional<AxisMap>& map, const Value& x) {
    if (!Begin(x)) return false;
    form_.in[0] = form_.perm;
    if (node_.attrs.Has("channels_last")) return Image();
    if (map) return map->dropped.empty() || Reduction(map->dropped);
    if (IsOp(node_, "Transpose")) return Transposition();
    if (IsOp(node_, "MatMul")) return Product();
    if (IsOp(node_, "DynamicScale")) return Scalars();
    return IsView(node_) && View(x);
  }

  // For ops with the attribute channels_last.
  bool Image() {
    if (ChannelsLast(node_) || form_.channel_axes != 1) return false;
    if (node_.outputs().size() > 1) {  // output 1 contains indices
      if (!node_.outputs()[1]->unused()) return false;
      form_.out.resize(1), form_.out_axes.resize(1);
    }
    const int weights = node_.op->WeightInput();
    if (weights < 0) return true;
    // Kernels pack constant weights only.
    if (!node_.input(weights)->is_constant() || form_.perm.size() > 5 || !HasKernelTypes(weights))
      return false;
    const int residual = node_.op->InputIndex("residual");
    return !node_.input(residual) || Residual(residual);
  }

  // Channels-last kernels of convolutions work on floats, and on 8-bit images with 8-bit weights.
  bool HasKernelTypes(int weights) const {
    const auto byte = [](const Value* v) { return BitWidth(v->type.dtype) == 8 && IsInt(v->type.dtype); };
    if (!IsOp(node_, "QConv")) return IsFloatValue(node_.output(0));
    return byte(node_.input(0)) && byte(node_.input(weights));
  }

  bool Residual(int input) {
    const Value* residual = node_.input(input);
    const auto at = static_cast<size_t>(input);
    const int rank = residual->type.shape.rank();
    if (rank < 0) return false;
    if (rank == static_cast<int>(form_.perm.size()) && !residual->is_constant()) {
      if (AxesOf(axes_, residual) != 1) return false;
      form_.in[at] = form_.perm;
    } else {
      form_.spread[at] = !AllOnes(residual);
    }
    return true;
  }

  // For reductions that drop axes.
  bool Reduction(const std::vector<int64_t>& dropped) {
    const auto rank = static_cast<int64_t>(form_.perm.size());
    std::vector<bool> is_dropped(form_.perm.size(), false);
    for (int64_t a : dropped) is_dropped[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
    // The index of each remaining dim after the dropped dims are removed.
    std::vector<int64_t> index(is_dropped.size(), 0);
    int64_t next = 0;
    for (size_t i = 0; i < is_dropped.size(); ++i) index[i] = is_dropped[i] ? -1 : next++;
    Permutation out;
    for (int64_t p : form_.perm)
      if (!is_dropped[static_cast<size_t>(p)]) out.push_back(index[static_cast<size_t>(p)]);
    return SetResult(out);
  }

  // `out` is the permutation of the result. Returns true if `out` is the identity or the result of
  // ToLast().
  bool SetResult(const Permutation& out) {
    form_.out[0] = {};
    form_.out_axes[0] = 1;
    if (IsIdentity(out)) return true;
    const int rank = static_cast<int>(out.size());
    for (int k = 1; k < rank - 1; ++k) {
      if (out != ToLast(rank, k)) continue;
      form_.out[0] = out;
      form_.out_axes[0] = k;
      return true;
    }
    return false;
  }

  // Accepts a Transpose that permutes channel axes among themselves and spatial axes among themselves.
  bool Transposition() {
    const auto p = PermutationOf(node_);
    if (!p || (*p)[0] != 0) return false;
    for (int64_t i = 1; i < static_cast<int64_t>(p->size()); ++i)
      if ((i <= form_.channel_axes) != ((*p)[static_cast<size_t>(i)] <= form_.channel_axes)) return false;
    form_.result_perm = Compose(Inverse(form_.perm), Compose(*p, form_.perm));
    return true;
  }

  // Accepts a MatMul with transpose_a. With a channels-last left operand, the MatMul needs no transpose_a
  // and has the same result.
  bool Product() {
    if (!node_.attrs.Bool("transpose_a") || form_.perm.size() != 3 || form_.channel_axes != 1) return false;
    form_.out[0] = {};
    form_.out_axes[0] = 1;
    return true;
  }

  // For ops whose results are scalars that do not depend on the order of axes.
  bool Scalars() {
    form_.out.assign(form_.out.size(), {});
    form_.out_axes.assign(form_.out_axes.size(), 1);
    return true;
  }

  bool View(const Value& x) {
    const Shape& y = node_.output(0)->type.shape;
    const auto k = ChannelAxesAfterView(x.type.shape, form_.channel_axes, y);
    if (!k || (*k != 1 && ReadAsImage())) return false;
    const Permutation out = ToLast(y.rank(), *k);
    form_.out[0] = IsIdentity(out) ? Permutation() : out;
    form_.out_axes[0] = *k;
    const auto numbers = ReshapeNumbers(Permuted(x.type.shape, form_.perm), Permuted(y, out));
    if (numbers) form_.view = *numbers;
    return numbers.has_value();
  }

  // True if a convolution or pool reads the result. It takes axis 1 alone as channels.
  bool ReadAsImage() const {
    const auto& uses = node_.output(0)->uses;
    return std::any_of(uses.begin(), uses.end(), [](const auto& use) {
      return use.second == 0 && use.first->attrs.Has("channels_last");
    });
  }

  const Node& node_;
  const ChannelAxes& axes_;
  LastForm form_;
};

}  // namespace

Permutation ToLast(int rank, int channel_axes) {
  Permutation perm;
  if (rank > 0) perm.push_back(0);
  for (int64_t i = channel_axes + 1; i < rank; ++i) perm.push_back(i);
  for (int64_t i = 1; i <= channel_axes && i < rank; ++i) perm.push_back(i);
  return perm;
}

int AxesOf(const ChannelAxes& axes, const Value* v) {
  const auto it = axes.find(v);
  return it == axes.end() ? 1 : it->second;
}

std::optional<LastForm> FormOf(const Node& node, const ChannelAxes& axes) {
  return FormBuilder(node, axes).Form();
}

Result<Node*> LastEmitter::Add(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs) {
  Node* node = old_.graph->AddNode(op, std::move(attrs), inputs, outputs, &old_);
  node->name = old_.name, node->origin = old_.origin, node->rule = "ChannelsLast";
  TERN_TRY(InferNode(*node));
  return node;
}

Result<Value*> LastEmitter::Transposed(Value* v, const Permutation& perm) {
  if (IsIdentity(perm)) return v;
  const OpDef& op = *FindOp("Transpose");
  Attrs attrs = op.defaults;
  SetAttr(attrs, "perm", perm);
  TERN_ASSIGN(Node * node, Add(op, std::move(attrs), {v}, 1));
  return node->output(0);
}

Result<Value*> LastEmitter::FullRank(Value* v, int rank) {
  const int own = v->type.shape.rank();
  if (own == rank) return v;
  std::vector<int64_t> lead(static_cast<size_t>(rank - own));
  std::iota(lead.begin(), lead.end(), 0);
  const OpDef& op = *FindOp("Unsqueeze");
  TERN_ASSIGN(Node * node, Add(op, op.defaults, {v, Ints(lead)}, 1));
  return node->output(0);
}

Result<std::vector<Value*>> LastEmitter::Emit(const LastForm& form, std::vector<Value*> inputs) {
  Attrs attrs = old_.attrs;
  const OpDef* op = old_.op;
  if (IsView(old_)) {
    op = FindOp("Reshape");
    attrs = op->defaults;
    inputs = {inputs[0], Ints(form.view)};
  } else {
    MoveAxes(
        old_, form.perm, [this](const auto& list) { return Ints(list); }, attrs, inputs);
    if (IsOp(old_, "Transpose")) SetAttr(attrs, "perm", form.result_perm);
    if (IsOp(old_, "MatMul")) SetAttr(attrs, "transpose_a", false);
    if (attrs.Has("channels_last")) SetAttr(attrs, "channels_last", true);
  }
  TERN_ASSIGN(Node * node, Add(*op, std::move(attrs), inputs, static_cast<int>(form.out.size())));
  // If the model declares the type of an old output, it may be more specific than the inferred type.
  for (size_t i = 0; i < form.out.size(); ++i) {
    Type known = old_.outputs()[i]->type;
    if (!form.out[i].empty()) known.shape = Permuted(known.shape, form.out[i]);
    RefineType(node->outputs()[i]->type, known);
  }
  return node->outputs();
}

}  // namespace tern
