#include "import/tensorflow/ops/window.h"

#include "ops/support/window.h"

namespace tern::tensorflow {
namespace {

std::vector<int64_t> PadsOf(const Window& window) {
  std::vector<int64_t> pads;
  for (const WindowAxis& a : window.axes) pads.push_back(a.begin);
  for (const WindowAxis& a : window.axes) pads.push_back(a.end);
  return pads;
}

// The attribute explicit_paddings has two entries per axis, in the order of data_format.
Result<std::vector<int64_t>> ExplicitPads(TfNode& n, bool channels_first, size_t spatial) {
  const auto given = n.Ints("explicit_paddings");
  if (given.size() != 2 * (spatial + 2)) return n.Bad("explicit_paddings has ", given.size(), " entries");
  const size_t first = channels_first ? 2 : 1;
  std::vector<int64_t> pads;
  for (size_t side = 0; side < 2; ++side)
    for (size_t i = 0; i < spatial; ++i) pads.push_back(given[2 * (first + i) + side]);
  return pads;
}

}  // namespace

Result<bool> IsChannelsFirst(TfNode& n) {
  const std::string format = n.Text("data_format");
  if (format == "NHWC" || format == "NDHWC" || format == "NWC" || format == "CHANNELS_LAST") return false;
  if (format == "NCHW" || format == "NCDHW" || format == "CHANNELS_FIRST") return true;
  return n.NotYet("data_format '", format, "'");
}

Result<std::vector<int64_t>> Spatial(TfNode& n, const std::vector<int64_t>& list, bool channels_first,
                                     const char* what) {
  if (list.size() < 3) return n.Bad(what, " has ", list.size(), " entries");
  const size_t channels = channels_first ? 1 : list.size() - 1;
  if (list[0] != 1 || list[channels] != 1)
    return n.NotYet(what, " other than 1 along the batch or the channels");
  std::vector<int64_t> out;
  for (size_t i = 1; i < list.size(); ++i)
    if (i != channels) out.push_back(list[i]);
  for (const int64_t v : out)
    if (v < 1 || v > INT32_MAX) return n.Bad(what, " contains ", v);
  return out;
}

Result<AttrList> WindowAttrs(TfNode& n, const Value* x, const std::vector<int64_t>& kernel,
                             bool channels_first, const std::vector<int64_t>& strides,
                             const std::vector<int64_t>& dilations) {
  const size_t rank = kernel.size();
  if (x->type.shape.ranked && x->type.shape.dims.size() != rank + 2)
    return n.Bad("the input has ", x->type.shape.dims.size(), " axes, but the window has ", rank,
                 " spatial axes");
  if (strides.size() != rank || dilations.size() != rank)
    return n.Bad("strides or dilations do not fit the window");
  const std::string padding = n.Text("padding");
  std::vector<int64_t> pads(2 * rank, 0);
  std::string auto_pad = "none";
  if (padding == "EXPLICIT") {
    TERN_ASSIGN(pads, ExplicitPads(n, channels_first, rank));
  } else if (padding == "SAME") {
    auto_pad = "same_upper";
    const bool known =
        x->type.shape.ranked &&
        Shape(std::vector<Dim>(x->type.shape.dims.begin() + 2, x->type.shape.dims.end())).fully_known();
    if (known) {
      auto window = MakeWindow(static_cast<int>(rank), strides, {}, dilations, AutoPad::kSameUpper);
      if (!window.ok()) return n.Bad(window.status().message());
      const Shape spatial(std::vector<Dim>(x->type.shape.dims.begin() + 2, x->type.shape.dims.end()));
      pads = PadsOf(ResolvePads(*window, spatial.Concrete(), kernel));
      auto_pad = "none";
    }
  } else if (padding != "VALID") {
    return n.Bad("padding '", padding, "' must be SAME, VALID or EXPLICIT");
  }
  return AttrList{{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"auto_pad", auto_pad}};
}

Value* WindowInput(TfNode& n, int i, bool channels_first) {
  return channels_first ? n.In(i) : n.ChannelsFirst(i);
}

void WindowOutput(TfNode& n, int i, Value* y, bool channels_first) {
  if (channels_first)
    n.Out(i, y);
  else
    n.OutChannelsFirst(i, y);
}

}  // namespace tern::tensorflow
