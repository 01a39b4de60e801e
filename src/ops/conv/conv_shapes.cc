#include "ops/conv/conv_shapes.h"

#include "ir/graph.h"
#include "ir/op_cost.h"
#include "ir/static_node.h"

namespace tern {

Status CheckConvShapes(int64_t group, const Shape& x, const Shape& w, const char* channels) {
  if (group < 1) return InvalidModel("group is ", group, ", but must be at least 1");
  for (const auto& [name, s] : {std::pair("x", &x), std::pair("w", &w)})
    if (s->ranked && s->rank() < 3)
      return InvalidModel("input '", name, "' must have rank 3 or more, got ", s->ToString());
  if (w.ranked && w[0].known() && w[0].value() % group)
    return InvalidModel("group ", group, " does not divide the ", w[0].value(), " ", channels, " channels");
  if (x.ranked && w.ranked && x.rank() != w.rank())
    return InvalidModel("ranks differ: x ", x.ToString(), ", w ", w.ToString());
  return {};
}

Status CheckGroupChannels(int64_t group, const Shape& x, const Shape& w) {
  if (x.ranked && w.ranked && Differ(x[1], w[1] * group))
    return InvalidModel("x has ", x[1].value(), " channels, but w expects ", w[1].value(), " in each of ",
                        group, " group(s)");
  return {};
}

Plane::Plane(const Dims& dx, const Dims& dw, const Dims& dy)
    : input(dx.begin() + 2, dx.end()),
      kernel(dw.begin() + 2, dw.end()),
      output(dy.begin() + 2, dy.end()),
      input_size(CountOf(input)),
      kernel_size(CountOf(kernel)),
      output_size(CountOf(output)) {}

std::function<CountRule> ConvMacs(int weights) {
  return [weights](const Node& n) -> std::optional<double> {
    const auto filters = DimOf(n.input(weights), 0), elements = ElementsOf(n.input(weights));
    if (!filters || !elements || *filters == 0) return std::nullopt;
    return Times(ElementsOf(n.output(0)), *elements / *filters);
  };
}

int64_t TypicalImage(const StaticNode& node, size_t input, size_t axis) {
  constexpr int64_t kSide = 32;
  if (axis == (node.attrs->Bool("channels_last") ? node.inputs[input].dims.size() - 1 : 1))
    return kSizeOfWeights;
  const Dims& w = node.inputs[1].dims;
  const bool one_tap = std::all_of(w.begin() + 2, w.end(), [](int64_t d) { return d == 1; });
  return axis == 0 ? 1 : one_tap ? kSide : 0;
}

}  // namespace tern
