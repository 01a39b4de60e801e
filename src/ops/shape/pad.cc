// Pad: adds a border to a tensor. A negative width crops the tensor.
#include "ir/axis_map.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

struct Pad {
  PadMode mode = PadMode::kConstant;
  template <class V> void Visit(V& v) {
    v.Enum("mode", mode, {"constant", "reflect", "edge", "wrap"}, "how the border is filled");
  }
};

// Returns the widths at the start and at the end of every dim. They are 0 for dims that `axes` does not list.
Result<std::vector<std::pair<Dim, Dim>>> Widths(int rank, const Content& pads,
                                                const std::optional<std::vector<int64_t>>& axes) {
  std::vector<int> list;
  if (axes) {
    TERN_ASSIGN(list, NormalizeAxes(*axes, rank));
  } else {
    for (int i = 0; i < rank; ++i) list.push_back(i);
  }
  if (pads.size() != 2 * list.size())
    return InvalidModel("pads has ", pads.size(), " entries for ", list.size(),
                        " axes (needs a begin and an end for each)");
  std::vector<std::pair<Dim, Dim>> out(static_cast<size_t>(rank), {Dim(0), Dim(0)});
  for (size_t i = 0; i < list.size(); ++i)
    out[static_cast<size_t>(list[i])] = {pads[i], pads[list.size() + i]};
  return out;
}

Status CheckWidth(int axis, int64_t dim, int64_t begin, int64_t end) {
  constexpr int64_t kHuge = int64_t{1} << 46;
  if (begin > kHuge || end > kHuge || begin < -kHuge || end < -kHuge || dim + begin + end < 0)
    return InvalidModel("cannot apply pads ", begin, " and ", end, " along axis ", axis, " of size ", dim);
  return {};
}

Status CheckValue(const InferContext& c) {
  const DType x = c.TypeOf("x"), value = c.Has("value") ? c.TypeOf("value") : x;
  if (x == value || x == DType::kInvalid || value == DType::kInvalid) return {};
  return InvalidModel("input 'value' must be ", DTypeName(x), " as x is, got ", c.In("value").ToString());
}

Status Infer(const Pad&, InferContext& c) {
  TERN_TRY(RequireVector(c, "pads"));
  TERN_TRY(CheckValue(c));
  const Shape& x = c.ShapeOf("x");
  c.Out("y", c.TypeOf("x"), x.ranked ? Shape(std::vector<Dim>(x.dims.size())) : Shape());
  const auto pads = c.ContentOf("pads");
  const auto axes = c.LongsOf("axes");
  if (!x.ranked || !pads || (c.Has("axes") && !axes)) return {};
  TERN_ASSIGN(const auto widths, Widths(x.rank(), *pads, axes));
  std::vector<Dim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    const auto& [begin, end] = widths[static_cast<size_t>(i)];
    if (begin.known() && end.known() && x[i].known())
      TERN_TRY(CheckWidth(i, x[i].value(), begin.value(), end.value()));
    dims.push_back(x[i] + begin + end);
  }
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  return {};
}

// The padding of one dim. Negative pads crop first, so that `kept` elements remain, beginning with element
// `first`. The border is computed from these elements. `lead` is the width of the border before them. `total`
// is the size of the result.
struct Border {
  int64_t first, kept, lead, total;
};

Result<Border> BorderOf(PadMode mode, int axis, int64_t dim, int64_t begin, int64_t end) {
  TERN_TRY(CheckWidth(axis, dim, begin, end));
  const int64_t first = std::max<int64_t>(0, -begin);
  const Border out{first, dim - first - std::max<int64_t>(0, -end), std::max<int64_t>(0, begin),
                   dim + begin + end};
  if (mode != PadMode::kConstant && out.kept <= 0 && out.total > 0)
    return InvalidArgument("no elements to pad from along axis ", axis, " of size ", dim, " with pads ",
                           begin, " and ", end);
  return out;
}

// For each output position along one dim, returns the input position, or -1 in a constant border.
std::vector<int64_t> Sources(PadMode mode, const Border& border) {
  const auto [first, kept, lead, total] = border;
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  std::vector<int64_t> out(static_cast<size_t>(total));
  for (int64_t o = 0; o < total; ++o) {
    int64_t i = o - lead;
    if (i < 0 || i >= kept) {
      if (mode == PadMode::kConstant)
        i = -1 - first;
      else if (mode == PadMode::kEdge)
        i = i < 0 ? 0 : kept - 1;
      else if (mode == PadMode::kWrap)
        i = modulo(i, kept);
      else if (kept == 1)
        i = 0;
      else
        i = std::min(modulo(i, 2 * kept - 2), 2 * kept - 2 - modulo(i, 2 * kept - 2));
    }
    out[static_cast<size_t>(o)] = i + first;
  }
  return out;
}

Status Reference(const Pad& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto pads = c.Longs("pads");
  std::optional<std::vector<int64_t>> axes;
  if (c.Has("axes")) axes = c.Longs("axes");
  TERN_ASSIGN(const auto widths, Widths(x.rank(), Content(pads.begin(), pads.end()), axes));
  std::vector<Border> borders;
  Dims dims;
  for (int i = 0; i < x.rank(); ++i) {
    const auto& [begin, end] = widths[static_cast<size_t>(i)];
    TERN_ASSIGN(const Border border, BorderOf(op.mode, i, x.dim(i), begin.value(), end.value()));
    borders.push_back(border);
    dims.push_back(border.total);
  }
  Tensor& y = c.Out("y", dims);
  if (c.Has("value")) {
    if (c.In("value").size() != 1)
      return InvalidArgument("value must have one element, got ", c.In("value").Describe());
    FillElements(c.In("value"), 0, y);
  }
  if (y.size() == 0) return {};  // the other dims may be huge, so that `sources` would exhaust memory
  std::vector<std::vector<int64_t>> sources;
  for (const Border& border : borders) sources.push_back(Sources(op.mode, border));
  CopyMapped(x, y, sources);
  return {};
}

std::optional<AxisMap> PadAxes(const Node& node) {
  if (!IntsOf(node.input(1)) || (node.input(3) && !IntsOf(node.input(3)))) return std::nullopt;
  return FirstOperandAxes(node);
}
void RenamePad(const Node& node, AxisRenaming& r) {
  if (node.input(3))
    r.MoveAxesInput(3);
  else
    r.SetInput(1, r.Reordered(*IntsOf(node.input(1))));
}

}  // namespace

TERN_OP(Pad) {
  return OpDef::Of<Pad>(
             "x with a border along axes, or along all axes if axes is absent; pads has the widths at the start of each axis, then those at the end of each; a negative width crops")
      .In("x", kAnyType)
      .Setting("pads", kIndices)
      .OptSetting("value", kAnyType)
      .OptSetting("axes", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kAny, .border = Movement::Border::kInput, .border_input = 2},
             No{"the result has a border"})
      .Batch(No{"the outermost dim may be padded"})
      .Axes(PadAxes, RenamePad)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
