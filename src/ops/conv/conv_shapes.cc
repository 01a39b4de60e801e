#include "ops/conv/conv_shapes.h"

namespace tern {

Status CheckConvShapes(int64_t group, const Shape& x, const Shape& w, const char* channels) {
  if (group < 1) return InvalidModel("group is ", group, ", needs at least 1");
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
    return InvalidModel("x has ", x[1].value(), " channels, w expects ", w[1].value(), " in each of ", group,
                        " group(s)");
  return {};
}

Plane::Plane(const Dims& dx, const Dims& dw, const Dims& dy)
    : input(dx.begin() + 2, dx.end()),
      kernel(dw.begin() + 2, dw.end()),
      output(dy.begin() + 2, dy.end()),
      input_size(CountOf(input)),
      kernel_size(CountOf(kernel)),
      output_size(CountOf(output)) {}

}  // namespace tern
