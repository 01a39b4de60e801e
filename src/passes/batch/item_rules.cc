#include "passes/batch/item_rules.h"

#include <algorithm>
#include <map>

namespace tern {
namespace {

bool Contains(const std::vector<int64_t>& axes, int axis, int rank) {
  return std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return (a < 0 ? a + rank : a) == axis; });
}

// For ops that work along `axis`. Only input 0 may contain items, and not in `axis`. The outputs contain the
// items in the same axis as input 0.
ItemAxes BesideAxis(const ItemQuery& q, int axis) {
  TERN_TRY(q.OnlyIn({0}));
  if (q.Axis(0) == axis) return WorksAlong(axis);
  return AllOutputs(q, q.Axis(0));
}
ItemAxes BesideAxisAttr(const ItemQuery& q) { return BesideAxis(q, q.AxisAttr(q.Rank(0))); }

// Calls BesideAxis with the axis that the optional input `input` contains as its only element. If this input
// is absent, the axis is `otherwise`.
ItemAxes BesideAxisInput(const ItemQuery& q, int input, int otherwise) {
  int axis = otherwise;
  if (q.Has(input)) {
    const auto list = NumbersOf(q.node.input(input));
    if (!list || list->size() != 1) return InvalidArgument("its axis is not known");
    axis = static_cast<int>((*list)[0]);
  }
  return BesideAxis(q, axis < 0 ? axis + q.Rank(0) : axis);
}
ItemAxes CumulativeItems(const ItemQuery& q) { return BesideAxisInput(q, 1, 0); }
ItemAxes DftItems(const ItemQuery& q) {
  if (q.Axis(0) == q.Rank(0) - 1) return WorksAlong(q.Axis(0));
  return BesideAxisInput(q, 2, -2);
}

// For ops that normalize over all axes from the attribute `axis` to the last axis.
ItemAxes BeforeAxisAttr(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  if (q.Axis(0) >= q.AxisAttr(q.Rank(0))) return WorksAlong(q.Axis(0));
  return AllOutputs(q, q.Axis(0));
}

ItemAxes OnMatrices(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  if (q.Axis(0) >= q.Rank(0) - 2) return WorksAlong(q.Axis(0));
  return AllOutputs(q, q.Axis(0));
}

ItemAxes ArgReduceItems(const ItemQuery& q) {
  const int axis = q.AxisAttr(q.Rank(0));
  if (q.Axis(0) == axis) return WorksAlong(axis);
  return AllOutputs(q, q.Axis(0) - (!q.node.attrs.Bool("keep_dims") && axis < q.Axis(0)));
}

ItemAxes ReduceItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  std::vector<int64_t> axes;
  if (q.Has(1)) {
    const auto list = NumbersOf(q.node.input(1));
    if (!list) return InvalidArgument("its axes are not known");
    axes = *list;
  }
  if (axes.empty() && q.node.attrs.Bool("noop_if_empty")) return AllOutputs(q, q.Axis(0));
  if (axes.empty() || Contains(axes, q.Axis(0), q.Rank(0))) return WorksAlong(q.Axis(0));
  int dropped = 0;
  for (int i = 0; i < q.Axis(0); ++i) dropped += Contains(axes, i, q.Rank(0));
  return AllOutputs(q, q.Axis(0) - (q.node.attrs.Bool("keep_dims") ? 0 : dropped));
}

ItemAxes TransposeItems(const ItemQuery& q) {
  const auto& perm = q.node.attrs.Ints("perm");
  if (perm.empty()) return AllOutputs(q, q.Rank(0) - 1 - q.Axis(0));
  return AllOutputs(q, static_cast<int>(std::find(perm.begin(), perm.end(), q.Axis(0)) - perm.begin()));
}

// This rule need not check the target shape. BatchFollower::CheckOutputs fails if the dim with the items
// changes.
ItemAxes ExpandItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  return AllOutputs(q, q.Axis(0) + q.OutRank() - q.Rank(0));
}
ItemAxes TileItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  return AllOutputs(q, q.Axis(0));
}

ItemAxes ConcatItems(const ItemQuery& q) {
  const int axis = q.AxisAttr(q.OutRank());
  for (int i = 0; i < q.inputs(); ++i) {
    if (q.Axis(i) == axis) return WorksAlong(axis);
    if (q.Axis(i) != q.Axis(0))
      return InvalidArgument("inputs 0 and ", i,
                             " contain the items in different axes, or one contains none: ",
                             q.node.input(0)->type.ToString(), ", ", q.node.input(i)->type.ToString());
  }
  return AllOutputs(q, q.Axis(0));
}

// `input` is the index of an optional input that lists axes. Returns the position of `axis` in the list.
// Returns `axis` if the input is absent, -1 if the list does not contain `axis`, and nullopt if the list is
// not known.
std::optional<int> PlaceOf(const ItemQuery& q, int input, int axis) {
  if (!q.Has(input)) return axis;
  const auto axes = NumbersOf(q.node.input(input));
  if (!axes) return std::nullopt;
  for (size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] == axis || (*axes)[i] + q.Rank(0) == axis) return static_cast<int>(i);
  return -1;
}

// A Slice of all items with step 1 is allowed. BatchFollower::CheckOutputs checks that the dim with the items
// keeps its size.
ItemAxes SliceItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  const auto place = PlaceOf(q, 3, q.Axis(0));
  if (!place) return InvalidArgument("its axes are not known");
  if (*place >= 0 && q.Has(4)) {
    const auto steps = NumbersOf(q.node.input(4));
    if (!steps) return WorksAlong(q.Axis(0));
    // Without axes, the lists are for the first axes only.
    const auto at = static_cast<size_t>(*place);
    if (at < steps->size() && (*steps)[at] != 1) return WorksAlong(q.Axis(0));
  }
  return AllOutputs(q, q.Axis(0));
}

ItemAxes PadItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  const auto place = PlaceOf(q, 3, q.Axis(0));
  const auto pads = NumbersOf(q.node.input(1));
  if (!place || !pads) return InvalidArgument("its pads are not known");
  const auto at = static_cast<size_t>(std::max(*place, 0));
  if (*place >= 0 && ((*pads)[at] || (*pads)[at + pads->size() / 2])) return WorksAlong(q.Axis(0));
  return AllOutputs(q, q.Axis(0));
}

// BatchFollower::CheckOutputs fails if the number of items changes. A scale such as 1.01 may leave this
// number unchanged and still mix items, so the scale of the axis with the items must be 1.
ItemAxes ResizeItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  const int axis = q.Axis(0);
  if (q.node.attrs.Text("coordinates") == "tf_crop_and_resize" || q.node.attrs.Text("aspect") != "stretch")
    return InvalidArgument("it may resize the axis of the items");
  const auto& axes = q.node.attrs.Ints("axes");
  if (!q.Has(2) || (q.Rank(2) == 1 && q.In(2)[0].Is(0))) return AllOutputs(q, axis);
  auto place = static_cast<int64_t>(axis);
  if (!axes.empty())
    place = std::find_if(axes.begin(), axes.end(),
                         [&](int64_t a) { return a == axis || a + q.Rank(0) == axis; }) -
            axes.begin();
  if (!axes.empty() && place == static_cast<int64_t>(axes.size())) return AllOutputs(q, axis);
  const Value* scales = q.node.input(2);
  if (!scales->is_constant() || LoadDouble(scales->constant, place) != 1) return WorksAlong(axis);
  return AllOutputs(q, axis);
}

// For ops that define axis 0 as the batch. Each of `inputs` must contain the batch in axis 0. The other
// inputs must not contain the batch.
ItemAxes ItemsIn(const ItemQuery& q, std::initializer_list<int> inputs) {
  TERN_TRY(q.OnlyIn(inputs));
  for (const int i : inputs) {
    if (!q.Has(i)) continue;
    if (!q.Holds(i)) return InvalidArgument("its input ", i, " does not contain items, but other inputs do");
    if (q.Axis(i) != 0) return WorksAlong(q.Axis(i));
  }
  return AllOutputs(q, 0);
}
ItemAxes InFirst(const ItemQuery& q) { return ItemsIn(q, {0}); }
ItemAxes InFirstTwo(const ItemQuery& q) { return ItemsIn(q, {0, 1}); }
ItemAxes InAll(const ItemQuery& q) { return ItemsIn(q, {0, 1, 2, 3, 4, 5}); }
ItemAxes DeformConvItems(const ItemQuery& q) { return ItemsIn(q, {0, 2, 4}); }
ItemAxes RowsOfFirst(const ItemQuery& q) {
  if (q.Rank(0) < 2) return InvalidArgument("a vector is one item");
  return InFirst(q);
}
ItemAxes ZipMapItems(const ItemQuery& q) {
  TERN_TRY(InFirst(q).status());
  return AllOutputs(q, kNoItems);  // a sequence with one map per item
}

ItemAxes OnlyOthersHold() {
  return InvalidArgument("its input 0 does not contain items, but other inputs do");
}

// Inputs 1 and 2 are weight and bias, input 3 is a residual.
ItemAxes ConvItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0, 3}));
  if (!q.Holds(0)) return OnlyOthersHold();
  if (q.Axis(0) != 0) return WorksAlong(q.Axis(0));
  if (q.Has(3)) TERN_TRY(CheckBroadcast(q, 3, 0));
  return AllOutputs(q, 0);
}

ItemAxes QuantizeItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  const Shape& scale = q.In(1);
  const bool single = scale.rank() == 0 || (scale.rank() == 1 && scale[0].Is(1));
  if (q.node.attrs.Int("block_size") == 0 && single) return AllOutputs(q, q.Axis(0));
  if (q.node.attrs.Int("block_size") != 0)
    return InvalidArgument("the number of its scales depends on the batch size");
  return BesideAxisAttr(q);
}
// For ops with one operand and parameters that are the same for all items.
ItemAxes QUnaryItems(const ItemQuery& q) {
  TERN_TRY(q.OnlyIn({0}));
  return AllOutputs(q, q.Axis(0));
}

ItemAxes ReverseSequenceItems(const ItemQuery& q) {
  if (q.Axis(0) != q.node.attrs.Int("batch_axis") || q.Axis(1) != 0) return WorksAlong(q.Axis(0));
  return AllOutputs(q, q.Axis(0));
}

// With positions (input 3), cos and sin are tables, and a position may refer to any row.
ItemAxes RotaryItems(const ItemQuery& q) {
  if (q.Has(3)) TERN_TRY(q.OnlyIn({0, 3}));
  for (int i = 0; i < q.inputs(); ++i)
    if (q.Holds(i) && q.Axis(i) != 0) return WorksAlong(q.Axis(i));
  if (!q.Holds(0)) return OnlyOthersHold();
  return AllOutputs(q, 0);
}

}  // namespace

ItemAxes AllOutputs(const ItemQuery& q, int axis) { return std::vector<int>(q.outputs(), axis); }
ItemAxes WorksAlong(int axis) {
  return InvalidArgument("it works along axis ", axis, ", which contains the items");
}

Status CheckBroadcast(const ItemQuery& q, int i, int axis) {
  const int at = axis - (q.OutRank() - q.Rank(i));
  if (q.Holds(i) ? q.Axis(i) == at : at < 0 || q.In(i)[at].Is(1)) return {};
  return InvalidArgument("its input ", i, ", ", q.node.input(i)->type.ToString(),
                         ", does not contain the items in the same axis as its other inputs");
}

ItemAxes BroadcastItems(const ItemQuery& q) {
  int axis = kNoItems;
  for (int i = 0; i < q.inputs(); ++i)
    if (q.Holds(i)) axis = q.Axis(i) + q.OutRank() - q.Rank(i);
  for (int i = 0; i < q.inputs(); ++i)
    if (q.Has(i)) TERN_TRY(CheckBroadcast(q, i, axis));
  return AllOutputs(q, axis);
}

ItemRule FindItemRule(std::string_view op) {
  static const std::map<std::string_view, ItemRule> rules = {
      {"Softmax", BesideAxisAttr},
      {"TopK", BesideAxisAttr},
      {"Split", BesideAxisAttr},
      {"Scale", BesideAxisAttr},
      {"Cumulative", CumulativeItems},
      {"DFT", DftItems},
      {"LayerNorm", BeforeAxisAttr},
      {"RmsNorm", BeforeAxisAttr},
      {"Trilu", OnMatrices},
      {"Det", OnMatrices},
      {"Inverse", OnMatrices},
      {"ArgReduce", ArgReduceItems},
      {"Reduce", ReduceItems},
      {"Transpose", TransposeItems},
      {"Expand", ExpandItems},
      {"Tile", TileItems},
      {"Concat", ConcatItems},
      {"Slice", SliceItems},
      {"Pad", PadItems},
      {"Resize", ResizeItems},
      {"Conv", ConvItems},
      {"ConvTranspose", ConvItems},
      {"QConv", InFirst},
      {"DeformConv", DeformConvItems},
      {"GridSample", InFirstTwo},
      {"AffineGrid", InFirst},
      {"Col2Im", InFirst},
      {"STFT", InFirst},
      {"NGramRepeatBlock", InFirstTwo},
      {"LinearAttention", InAll},
      {"QPool", InFirst},
      {"QGlobalPool", InFirst},
      {"QUnary", QUnaryItems},
      {"QActivation", QUnaryItems},
      {"QBinary", BroadcastItems},
      {"Quantize", QuantizeItems},
      {"Dequantize", QuantizeItems},
      {"ReverseSequence", ReverseSequenceItems},
      {"LinearClassifier", RowsOfFirst},
      {"Normalizer", RowsOfFirst},
      {"SVMClassifier", RowsOfFirst},
      {"SVMRegressor", RowsOfFirst},
      {"TreeEnsemble", RowsOfFirst},
      {"TreeEnsembleClassifier", RowsOfFirst},
      {"TfIdfVectorizer", RowsOfFirst},
      {"LabelEncoder", QUnaryItems},
      {"MurmurHash3", QUnaryItems},
      {"RegexFullMatch", QUnaryItems},
      {"ZipMap", ZipMapItems},
      {"BeamSearch", InFirst},
      {"GreedySearch", InFirst},
      {"RotaryEmbedding", RotaryItems},
      {"TensorScatter", InAll},
      {"MatMul", MatMulItems},
      {"QMatMul", QMatMulItems},
      {"Einsum", EinsumItems},
      {"Attention", AttentionItems},
      {"Rnn", RnnItems},
      {"Gather", GatherItems},
      {"GatherElements", SameAxisItems},
      {"ScatterElements", SameAxisItems},
      {"GatherND", GatherNdItems},
      {"ScatterND", ScatterNdItems},
      {"OneHot", OneHotItems},
      {"SequenceConstruct", SequenceItems},
      {"SequenceAt", SequenceItems},
      {"SequenceInsert", SequenceItems},
      {"SequenceErase", SequenceItems},
      {"Optional", SequenceItems},
      {"OptionalGetElement", SequenceItems},
      {"SequenceLength", SequenceLengthItems},
      {"OptionalHasElement", SequenceLengthItems},
      {"SplitToSequence", SplitToSequenceItems},
      {"ConcatFromSequence", ConcatFromSequenceItems},
  };
  const auto rule = rules.find(op);
  return rule == rules.end() ? nullptr : rule->second;
}

}  // namespace tern
