// Every node that supports both layouts is assigned to one of two sides, channels first or channels last. A
// value that crosses between the sides is transposed once. Costs are bytes of memory traffic:
//
// - A crossing costs one read and one write of each element. It costs 0 if only dims of size 1 move, or if
//   the model already transposes the value between the two layouts.
// - A convolution with channels first has an extra cost per FLOP (LayoutCosts), because channels-last kernels
//   need about a third less time. In the time of 100 FLOPs, a core moves about 30 bytes. A third of this is
//   the extra cost, 0.1 bytes per FLOP. It is higher if a group has few output channels, because few
//   operations then use each element that im2col copies.
// - A QConv with channels first has no integer kernel. It converts its operands to f32 and multiplies in f32.
//   The extra cost is 0.3 bytes per FLOP, and 5 bytes per element of its operands and its result.
// - A pool with channels first has an extra cost of half the bytes of its input, because it cannot
//   vectorize along channels.
// - A MatMul with a transposed left operand has an extra cost of half the bytes of that operand.
//
// The assignment is a minimum cut, so its total cost is minimal.
#include "passes/layout/channels_last.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "passes/layout/min_cut.h"
#include "passes/layout/permutable.h"

namespace tern {
namespace {

// True for a node with the attribute channels_last and with weights.
bool IsConvolution(const Node& node) {
  return node.attrs.Has("channels_last") && node.op->WeightInput() >= 0;
}

// Returns the number of elements. Assumes 1 for an unknown dim 0 and 32 for each other unknown dim.
double Elements(const Shape& s) {
  constexpr double kGuessedLength = 32;
  double count = 1;
  for (int i = 0; i < s.rank(); ++i)
    count *= s[i].known() ? static_cast<double>(s[i].value()) : i == 0 ? 1 : kGuessedLength;
  return count;
}

int64_t RoundUp(double bytes) { return static_cast<int64_t>(std::min(std::ceil(bytes), 1e15)); }

double Bytes(const Value& v) { return Elements(v.type.shape) * BitWidth(v.type.dtype) / 8.0; }

int64_t CrossingCost(const Value& v, int channel_axes) {
  if (!v.type.tensor() || v.type.shape.rank() < 3) return 0;
  if (OnlyOnesMove(ToLast(v.type.shape.rank(), channel_axes), v.type.shape)) return 0;
  return RoundUp(2 * Bytes(v));
}

// Returns whether the weights of a QConv minus their zero points fit into 8 bits.
bool FitsI8(const Tensor& w, const Value* zero) {
  if (!zero && w.dtype() == DType::kI8) return true;
  const auto weights = ToLongs(w), zeros = zero ? ToLongs(zero->constant) : std::vector<int64_t>{0};
  const size_t each = weights.size() / static_cast<size_t>(std::max<int64_t>(1, w.dim(0)));
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t v = weights[i] - zeros[zeros.size() == 1 ? 0 : i / each];
    if (v < -128 || v > 127) return false;
  }
  return true;
}

// Returns whether integer kernels support the QConv with channels last. Otherwise it is computed in f32, and
// its layout matters as much as that of a Conv.
bool HasIntegerKernel(const Node& conv) {
  constexpr int kWeightZero = 5, kBias = 8;
  const Value *zero = conv.input(kWeightZero), *bias = conv.input(kBias);
  const DType result = conv.output(0)->type.dtype;
  if (result != DType::kU8 && result != DType::kI8 && result != DType::kF32) return false;
  if (zero && !zero->is_constant()) return false;
  if (bias && bias->type.dtype == DType::kI32 && !bias->is_constant()) return false;
  return FitsI8(conv.input(conv.op->WeightInput())->constant, zero);
}

constexpr double kQuantizedBytesPerFlop = 0.3, kConversionBytes = 5;

// Returns the extra cost of a convolution with channels first, in bytes.
double ConvCostFirst(const Node& node, const LayoutCosts& costs) {
  const Tensor& w = node.input(node.op->WeightInput())->constant;
  if (w.size() == 0) return 0;
  const bool transposed = IsOp(node, "ConvTranspose");
  const Value& counted = transposed ? *node.input(0) : *node.output(0);
  const double flops =
      2 * Elements(counted.type.shape) * static_cast<double>(w.size()) / static_cast<double>(w.dim(0));
  if (IsOp(node, "QConv") && HasIntegerKernel(node))
    return kQuantizedBytesPerFlop * flops +
           kConversionBytes * (Elements(node.input(0)->type.shape) + Elements(node.output(0)->type.shape));
  const auto group = static_cast<double>(node.attrs.Int("group"));
  const double group_channels =
      static_cast<double>(transposed ? w.dim(1) : w.dim(0)) / (transposed ? 1 : group);
  return flops *
         std::min(costs.most_bytes_per_flop, costs.bytes_per_flop + costs.bytes_per_copy / group_channels);
}

// Returns the extra cost of the node with channels first, in bytes.
int64_t CostFirst(const Node& node, const LayoutCosts& costs) {
  if (IsConvolution(node)) return RoundUp(ConvCostFirst(node, costs));
  if (IsOp(node, "Pool") || IsOp(node, "QPool") || IsOp(node, "QGlobalPool") || IsOp(node, "MatMul"))
    return RoundUp(0.5 * Bytes(*node.input(0)));
  return 0;
}
class Chooser {
 public:
  Chooser(Graph& graph, const PassContext& context)
      : graph_(graph), eager_(context.eager), costs_(context.layout_costs) {}

  // Returns the nodes to convert to channels last, in graph order. LastForm describes the converted node.
  std::vector<std::pair<Node*, LastForm>> Choose() {
    FindForms();
    if (!has_seed_) return {};
    AddCosts();
    const auto last = cut_.Solve();
    std::vector<std::pair<Node*, LastForm>> chosen;
    for (const auto& node : graph_.nodes())
      if (const auto it = forms_.find(node.get()); it != forms_.end())
        if (last[static_cast<size_t>(it->second.number)]) chosen.emplace_back(node.get(), it->second.form);
    return chosen;
  }

 private:
  struct Candidate {
    LastForm form;
    int number;  // the number of the node in cut_
  };

  void FindForms() {
    for (const auto& node : graph_.nodes()) {
      auto form = FormOf(*node, axes_);
      if (!form) {
        FindBorderAxes(*node);
        continue;
      }
      for (size_t i = 0; i < form->out.size(); ++i)
        if (form->out_axes[i] != 1) axes_[node->outputs()[i]] = form->out_axes[i];
      has_seed_ |= IsConvolution(*node);
      forms_.emplace(node.get(), Candidate{std::move(*form), cut_.AddNode()});
    }
  }

  // A Transpose of the model from channels last to channels first with k > 1 channel axes shows that its
  // result has k channel axes.
  void FindBorderAxes(const Node& node) {
    if (!IsOp(node, "Transpose")) return;
    const auto perm = PermutationOf(node);
    if (!perm) return;
    const int rank = static_cast<int>(perm->size());
    for (int k = 1; k < rank - 1; ++k)
      if (*perm == Inverse(ToLast(rank, k)) && k != 1) axes_[node.output(0)] = k;
  }

  void AddCosts() {
    for (const auto& [node, candidate] : forms_) {
      // The source side is channels first; the sink side is channels last.
      const bool wanted = eager_ && IsConvolution(*node);
      cut_.AddEdge(candidate.number, MinCut::kSink, wanted ? MinCut::kInfinite : CostFirst(*node, costs_));
    }
    for (const auto& v : graph_.values())
      if (!v->is_constant()) cut_.Join(SidesOf(*v), CrossingCost(*v, AxesOf(axes_, v.get())));
    // Captures are values of enclosing graphs that this graph reads.
    for (const Value* v : graph_.Captures())
      if (!v->is_constant()) cut_.Join(SidesOf(*v), CrossingCost(*v, AxesOf(axes_, v)));
  }

  // Returns the nodes of cut_ that produce or read a value. For a graph node with a fixed layout, this is
  // the source or the sink.
  std::vector<int> SidesOf(const Value& v) const {
    std::vector<int> sides;
    AddOnce(sides, MakerSide(v));
    for (const auto& [reader, input] : v.uses) AddOnce(sides, ReaderSide(v, *reader, input));
    if (v.output_uses) AddOnce(sides, MinCut::kSource);
    return sides;
  }
  static void AddOnce(std::vector<int>& sides, int side) {
    if (side >= 0 && std::find(sides.begin(), sides.end(), side) == sides.end()) sides.push_back(side);
  }

  int MakerSide(const Value& v) const {
    if (!v.producer || v.graph != &graph_) return MinCut::kSource;
    if (const auto it = forms_.find(v.producer); it != forms_.end()) {
      const auto& out = it->second.form.out;
      const auto i = static_cast<size_t>(v.output);
      return i >= out.size() || out[i].empty() ? MinCut::kSource : it->second.number;
    }
    if (!IsOp(*v.producer, "Transpose")) return MinCut::kSource;
    // A Transpose produces either layout at the same cost, so it is on neither side (-1). If its input is v
    // with channels last, that layout is free, and the Transpose counts as the sink.
    const auto perm = PermutationOf(*v.producer);
    return perm && *perm == Inverse(Last(v)) ? MinCut::kSink : -1;
  }

  int ReaderSide(const Value& v, const Node& reader, int input) const {
    if (reader.graph != &graph_) return MinCut::kSource;
    if (const auto it = forms_.find(&reader); it != forms_.end()) {
      if (!it->second.form.in[static_cast<size_t>(input)].empty()) return it->second.number;
      return MinCut::kSource;
    }
    if (!IsOp(reader, "Transpose")) return MinCut::kSource;
    return PermutationOf(reader) == Last(v) ? MinCut::kSink : -1;
  }

  Permutation Last(const Value& v) const { return ToLast(v.type.shape.rank(), AxesOf(axes_, &v)); }

  Graph& graph_;
  bool eager_;
  const LayoutCosts costs_;
  ChannelAxes axes_;
  std::unordered_map<const Node*, Candidate> forms_;
  MinCut cut_;
  bool has_seed_ = false;
};

// Rewrites the chosen nodes. Each result gets a Transpose back to channels first for readers that need it.
// Transposes without readers are removed at the end.
class Changer {
 public:
  Status Change(Node& node, const LastForm& form) {
    LastEmitter emit(node);
    std::vector<Value*> inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) continue;
      if (!form.in[i].empty()) {
        TERN_ASSIGN(inputs[i], Last(emit, inputs[i], form.in[i]));
      } else if (form.spread[i]) {
        TERN_ASSIGN(Value * full, emit.FullRank(inputs[i], static_cast<int>(form.perm.size())));
        TERN_ASSIGN(inputs[i], emit.Transposed(full, form.perm));
      }
    }
    TERN_ASSIGN(const auto outputs, emit.Emit(form, inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value *old = node.outputs()[i], *first = outputs[i];
      if (!form.out[i].empty()) {
        TERN_ASSIGN(first, emit.Transposed(outputs[i], Inverse(form.out[i])));
        last_[first] = outputs[i];
      }
      RefineType(first->type, old->type);
      std::swap(first->name, old->name);
      node.graph->ReplaceUses(old, first);
    }
    node.graph->RemoveNode(&node);
    return {};
  }

 private:
  Result<Value*> Last(LastEmitter& emit, Value* v, const Permutation& perm) {
    Value*& last = last_[v];
    if (!last) {
      TERN_ASSIGN(last, emit.Transposed(v, perm));
    }
    return last;
  }
  std::unordered_map<const Value*, Value*> last_;
};

}  // namespace

Result<int> ChannelsLastRegions(Graph& graph, PassContext& context) {
  int changed = 0;
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) {
      TERN_ASSIGN(const int inside, ChannelsLastRegions(*sub, context));
      changed += inside;
    }
  const auto chosen = Chooser(graph, context).Choose();
  Changer changer;
  for (const auto& [node, form] : chosen) TERN_TRY(changer.Change(*node, form));
  if (!chosen.empty()) graph.RemoveDeadNodes();
  return changed + static_cast<int>(chosen.size());
}

}  // namespace tern
