// Converts operators that join, split and pad tensors.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// Concatenates the stored integers if all inputs have the quantization of the result, else real numbers.
Status Concatenation(LiteNode& n) {
  const auto& o = n.Options<fb::ConcatenationOptions>();
  if (n.InputCount() < 1) return n.Bad("has no inputs");
  Layout layout = Layout::kLast;
  bool stored = o.activation() == 0;
  for (int i = 0; i < n.InputCount(); ++i) {
    if (!n.Has(i)) return n.Bad("has no input ", i);
    if (n.LayoutOf(i) == Layout::kFirst) layout = Layout::kFirst;
    stored = stored && (!n.InfoIn(i).quantized || n.InfoIn(i).quant == n.InfoOut(0).quant);
  }
  const int rank = layout == Layout::kFirst ? 4 : n.RankOf(0);
  TERN_ASSIGN(const int64_t axis, AxisOf(n, o.axis(), rank));
  std::vector<Value*> parts;
  for (int i = 0; i < n.InputCount(); ++i) parts.push_back(stored ? n.In(i, layout) : n.Real(i, layout));
  Value* y = n.Activate(n.b.Op("Concat", parts, {{"axis", AxisIn(layout, axis)}}), o.activation());
  if (stored)
    n.Out(0, y, layout);
  else
    n.OutReal(0, y, layout);
  return {};
}

Status Pack(LiteNode& n) {
  if (n.InputCount() < 1) return n.Bad("has no inputs");
  std::vector<Value*> parts;
  const int rank = n.RankOf(0) + 1;
  TERN_ASSIGN(const int64_t axis, AxisOf(n, n.Options<fb::PackOptions>().axis(), rank));
  for (int i = 0; i < n.InputCount(); ++i) {
    if (!n.Has(i)) return n.Bad("has no input ", i);
    parts.push_back(Unsqueezed(n.b, n.In(i), {axis}));
  }
  n.Out(0, Joined(n.b, parts, axis));
  return {};
}

Status Unpack(LiteNode& n) {
  TERN_ASSIGN(const int64_t axis, AxisOf(n, n.Options<fb::UnpackOptions>().axis(), n.RankOf(0)));
  const auto parts =
      n.b.Ops("Split", {n.In(0)}, {{"axis", axis}, {"num_outputs", n.OutputCount()}}, n.OutputCount());
  for (int i = 0; i < n.OutputCount(); ++i) n.Out(i, Squeezed(n.b, parts[static_cast<size_t>(i)], {axis}));
  return {};
}

Status SplitAlong(LiteNode& n, int x, int64_t axis, Value* sizes) {
  TERN_ASSIGN(axis, AxisOf(n, axis, n.RankOf(x)));
  const AttrList attrs =
      sizes ? AttrList{{"axis", axis}} : AttrList{{"axis", axis}, {"num_outputs", n.OutputCount()}};
  const auto parts = n.b.Ops("Split", {n.In(x), sizes}, attrs, n.OutputCount());
  for (int i = 0; i < n.OutputCount(); ++i) n.Out(i, parts[static_cast<size_t>(i)]);
  return {};
}

Status Split(LiteNode& n) {
  const auto axis = n.Longs(0);
  if (!axis || axis->size() != 1) return n.NotYet("an axis that is not constant");
  return SplitAlong(n, 1, (*axis)[0], nullptr);
}

// One of the sizes may be -1, which means the remaining elements.
Status SplitV(LiteNode& n) {
  const auto axis = n.Longs(2), sizes = n.Longs(1);
  if (!axis || axis->size() != 1) return n.NotYet("an axis that is not constant");
  if (!sizes) return SplitAlong(n, 0, (*axis)[0], Longs64(n.b, n.In(1)));
  TERN_ASSIGN(const int64_t a, AxisOf(n, (*axis)[0], n.RankOf(0)));
  std::vector<int64_t> known = *sizes;
  int64_t sum = 0, open = -1;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] < -1 || known[i] > INT32_MAX) return n.Bad("the size ", known[i]);
    if (known[i] == -1) open = static_cast<int64_t>(i);
    if (known[i] > 0) sum += known[i];
  }
  if (open >= 0) {
    const Dim& size = n.In(0)->type.shape[static_cast<int>(a)];
    if (!size.known()) return n.NotYet("a size of -1 along an axis of unknown size");
    known[static_cast<size_t>(open)] = size.value() - sum;
  }
  return SplitAlong(n, 0, a, n.b.Ints(known));
}

// Returns the pads [rank, 2] in the order: all pads at the start, then all pads at the end.
Value* PadsOf(LiteNode& n, Layout layout) {
  if (const auto pads = n.Longs(1); pads && pads->size() % 2 == 0) {
    const size_t rank = pads->size() / 2;
    std::vector<int64_t> out(pads->size());
    for (size_t i = 0; i < rank; ++i) {
      const auto to = static_cast<size_t>(AxisIn(layout, static_cast<int64_t>(i)));
      out[to] = (*pads)[2 * i], out[rank + to] = (*pads)[2 * i + 1];
    }
    return n.b.Ints(out);
  }
  return Flat(n.b, Transposed(n.b, Longs64(n.b, n.In(1)), {1, 0}));
}

// The border of a quantized tensor is its zero point, or the stored value of PADV2.
Status Pad(LiteNode& n) {
  const Layout layout = n.LayoutOf(0) == Layout::kFirst && n.Longs(1) ? Layout::kFirst : Layout::kLast;
  Value* x = n.In(0, layout);
  const TensorInfo& info = n.InfoIn(0);
  Value* border = nullptr;
  if (n.Has(2))
    border = Reshaped(n.b, n.In(2), {});
  else if (info.quantized && !info.quant.zeros.empty())
    border = n.b.Scalar(x->type.dtype, static_cast<double>(info.quant.zeros[0]));
  n.Out(0, n.b.Op("Pad", {x, PadsOf(n, layout), border}), layout);
  return {};
}

constexpr int64_t kMaxMirrored = int64_t{1} << 22;

// The symmetric mode repeats the outermost elements. Each axis is gathered with constant indices.
Status MirrorPad(LiteNode& n) {
  Value* x = n.In(0);
  if (n.Options<fb::MirrorPadOptions>().mode() == 0) {
    n.Out(0, n.b.Op("Pad", {x, PadsOf(n, Layout::kLast)}, {{"mode", "reflect"}}));
    return {};
  }
  const auto pads = n.Longs(1);
  if (!pads || pads->size() != 2 * static_cast<size_t>(n.RankOf(0)))
    return n.NotYet("symmetric pads that are not constant");
  for (int axis = 0; axis < n.RankOf(0); ++axis) {
    const int64_t before = (*pads)[2 * static_cast<size_t>(axis)],
                  after = (*pads)[2 * static_cast<size_t>(axis) + 1];
    if (before == 0 && after == 0) continue;
    const Dim& size = x->type.shape[axis];
    if (!size.known()) return n.NotYet("symmetric pads of an axis of unknown size");
    if (before < 0 || after < 0 || before > size.value() || after > size.value())
      return n.Bad("symmetric pads ", before, " and ", after, " of an axis of ", size.value(), " elements");
    if (size.value() > kMaxMirrored)
      return n.NotYet("symmetric pads of an axis of ", size.value(), " elements");
    std::vector<int64_t> at;
    for (int64_t i = before; i-- > 0;) at.push_back(i);
    for (int64_t i = 0; i < size.value(); ++i) at.push_back(i);
    for (int64_t i = 0; i < after; ++i) at.push_back(size.value() - 1 - i);
    x = n.b.Op("Gather", {x, n.b.Ints(at)}, {{"axis", static_cast<int64_t>(axis)}});
  }
  n.Out(0, x);
  return {};
}

}  // namespace

TERN_CONVERTERS(join) {
  table.Add("CONCATENATION", 1, Concatenation);
  table.Add("PACK", 1, Pack);
  table.Add("UNPACK", 1, Unpack);
  table.Add("SPLIT", 2, Split);
  table.Add("SPLIT_V", 3, SplitV);
  table.Add("PAD", 2, Pad);
  table.Add("PADV2", 2, Pad);
  table.Add("MIRROR_PAD", 2, MirrorPad);
}

}  // namespace tern::tflite
