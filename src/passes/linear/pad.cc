// Folds a constant Pad into the pads of the Conv or Pool that reads it.
#include <cmath>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// Returns the widths that a Pad adds before each spatial axis, followed by those that it adds after each
// spatial axis. If the widths are not known, or the Pad crops or pads other axes, calls Skip with the reason
// and returns nullopt.
std::optional<std::vector<int64_t>> SpatialPads(Rewrite& r, const Node& pad) {
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return std::nullopt;
  };
  const int rank = pad.output(0)->type.shape.rank();
  const auto widths = IntsOf(pad.input(1));
  if (rank < 3 || !widths) return no("the widths of the border are not known");
  std::vector<int64_t> axes;
  if (pad.input(3)) {
    const auto given = IntsOf(pad.input(3));
    if (!given) return no("the axes of the border are not known");
    for (int64_t a : *given) axes.push_back(a < 0 ? a + rank : a);
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  std::vector<int64_t> pads(static_cast<size_t>(2 * (rank - 2)), 0);
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t end : {0u, 1u}) {
      const int64_t width = (*widths)[i + end * axes.size()];
      if (width < 0) return no("the Pad crops");
      if (axes[i] < 2 && width) return no("the Pad pads an axis that is not spatial");
      if (axes[i] >= 2) pads[static_cast<size_t>(axes[i] - 2) + end * pads.size() / 2] = width;
    }
  return pads;
}

// Adds the pads of `pad` to the pads in the reader's attributes.
bool AddPads(Rewrite& r, const Node& pad, Attrs& attrs) {
  const std::string automatic = attrs.Text("auto_pad");
  if (automatic != "none" && automatic != "valid")
    return r.Skip("auto_pad would compute other pads without the Pad");
  auto pads = SpatialPads(r, pad);
  if (!pads) return false;
  const auto own = automatic == "none" ? attrs.Ints("pads") : std::vector<int64_t>();
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] < 0) return r.Skip("the pads crop");
    (*pads)[i] += own[i];
  }
  return attrs.Set("pads", *pads).ok() && attrs.Set("auto_pad", "none").ok();
}

const Node* ConstantPad(Rewrite& r) {
  const Value* x = r.root().input(0);
  const Node* pad = MadeBy(x, "Pad");
  if (!pad) r.Skip("'", x->name, "' is not made by Pad");
  if (pad && pad->attrs.Text("mode") != "constant") {
    r.Skip("the border is not constant");
    return nullptr;
  }
  return pad;
}

// Returns the constant with which `pad` fills the border, or nullopt if it is not known.
std::optional<double> BorderOf(const Node& pad) { return pad.input(2) ? ScalarOf(pad.input(2)) : 0.0; }

bool FoldIntoConv(Rewrite& r) {
  Node& conv = r.root();
  const Node* pad = ConstantPad(r);
  if (!pad) return false;
  const bool quantized = IsOp(conv, "QConv");
  const auto zero = quantized && conv.input(2) ? ScalarOf(conv.input(2)) : 0.0;
  if (!zero || BorderOf(*pad) != zero) return r.Skip("the border is not zero");
  // A Conv multiplies its weights by the zeros that a Pad has added, but it skips its own pads. The results
  // differ if a weight is not finite, because 0 * inf is NaN.
  const Value* w = conv.input(1);
  if (quantized ? !AllFinite(w) || !AllFinite(conv.input(4))
                : IsFloatValue(w) && !AllFinite(w) && !MadeBy(w, "Dequantize"))
    return r.Skip("the weights are not known to be finite");
  Attrs attrs = conv.attrs;
  if (!AddPads(r, *pad, attrs)) return false;
  std::vector<Value*> inputs = conv.inputs();
  inputs[0] = pad->input(0);
  return r.Replace(r.Op(*conv.op, attrs, inputs));
}

bool AnyPads(const Attrs& attrs) {
  for (int64_t p : attrs.Ints("pads"))
    if (p) return true;
  return false;
}

// True if the pads are smaller than the window, as Pool requires.
bool FitWindow(const Attrs& attrs) {
  const auto pads = attrs.Ints("pads"), kernel = attrs.Ints("kernel"), dilations = attrs.Ints("dilations");
  for (size_t i = 0; i < pads.size(); ++i) {
    const size_t axis = i % kernel.size();
    if (pads[i] > (kernel[axis] - 1) * (dilations.empty() ? 1 : dilations[axis])) return false;
  }
  return true;
}

bool FoldIntoPool(Rewrite& r) {
  Node& pool = r.root();
  const Node* pad = ConstantPad(r);
  if (!pad) return false;
  if (pool.outputs().size() > 1 && !pool.output(1)->unused()) return r.Skip("the indices are read");
  if (pool.attrs.Bool("ceil_mode")) return r.Skip("the last window may extend beyond the end");
  const auto border = BorderOf(*pad);
  const std::string kind = KindName(pool);
  const bool lowest = border && IsFloatValue(pool.input(0)) && *border == -INFINITY;
  if (kind == "max" && !lowest) return r.Skip("the border is not -inf");
  if (kind != "max" && border != 0.0) return r.Skip("the border is not zero");
  Attrs attrs = pool.attrs;
  if (kind == "average" && AnyPads(attrs) && !attrs.Bool("count_include_pad"))
    return r.Skip("the average counts the border of the Pad but not the pads of the Pool");
  if (!AddPads(r, *pad, attrs)) return false;
  if (!FitWindow(attrs)) return r.Skip("the border is as wide as the window");
  if (kind == "average") SetAttr(attrs, "count_include_pad", true);
  return r.Replace(r.Op(*pool.op, attrs, {pad->input(0)}));
}

}  // namespace

TERN_RULE(FoldPadIntoConv) {
  return Rule{.summary = "Pad with zeroes then Conv is a Conv with pads",
              .roots = {"Conv", "QConv"},
              .apply = FoldIntoConv,
              .example = R"(graph @g(%x: f32[N,1,8]) -> (%y) {
  #w: f32[1,1,3] = (1, 2, 1)  #p: i64[6] = (0, 0, 1, 0, 0, 1)
  %y = Conv(Pad(%x, #p), #w)
})"};
}

TERN_RULE(FoldPadIntoPool) {
  return Rule{
      .summary =
          "Pad with zeroes then an average Pool, or Pad with -inf then a max Pool, is a Pool with pads",
      .roots = {"Pool"},
      .apply = FoldIntoPool,
      .example = R"(graph @g(%x: f32[N,1,8]) -> (%y) {
  #p: i64[6] = (0, 0, 1, 0, 0, 1)
  %y = Pool(Pad(%x, #p)) {kind="average", kernel=[3]}
})"};
}

}  // namespace tern
