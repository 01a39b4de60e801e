#include "import/onnx/ops/window_attrs.h"

#include "ops/support/window.h"

namespace tern::onnx {
namespace {

Result<AutoPad> AutoPadOf(const OnnxNode& n) {
  const std::string text = n.Text("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::kNone;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  return n.Bad("auto_pad '", text, "' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

bool AllKnown(const std::vector<Dim>& dims) {
  for (const Dim& d : dims)
    if (!d.known()) return false;
  return true;
}

std::vector<int64_t> PadsOf(const Window& window) {
  std::vector<int64_t> pads;
  for (const WindowAxis& a : window.axes) pads.push_back(a.begin);
  for (const WindowAxis& a : window.axes) pads.push_back(a.end);
  return pads;
}

}  // namespace

Result<AttrList> WindowAttrs(const OnnxNode& n, const Shape& x, const std::vector<Dim>& kernel,
                             bool keep_auto_pad) {
  TERN_ASSIGN(AutoPad auto_pad, AutoPadOf(n));
  const size_t rank = kernel.empty() ? (x.rank() > 2 ? x.dims.size() - 2 : 0) : kernel.size();
  const auto strides = n.Ints("strides", std::vector<int64_t>(rank, 1)),
             dilations = n.Ints("dilations", std::vector<int64_t>(rank, 1));
  auto pads = auto_pad == AutoPad::kNone ? n.Ints("pads", std::vector<int64_t>(2 * rank, 0))
                                         : std::vector<int64_t>(2 * rank, 0);
  if (auto_pad == AutoPad::kValid && !keep_auto_pad) auto_pad = AutoPad::kNone;
  const std::vector<Dim> spatial(x.rank() > 2 ? x.dims.begin() + 2 : x.dims.end(), x.dims.end());
  const bool known =
      rank && spatial.size() == rank && kernel.size() == rank && AllKnown(spatial) && AllKnown(kernel);
  if (auto_pad != AutoPad::kNone && known && !keep_auto_pad) {
    auto window = MakeWindow(static_cast<int>(rank), strides, {}, dilations, auto_pad);
    if (!window.ok()) return n.Bad(window.status().message());
    pads = PadsOf(ResolvePads(*window, Shape(spatial).Concrete(), Shape(kernel).Concrete()));
    auto_pad = AutoPad::kNone;
  }
  return AttrList{{"strides", strides},
                  {"dilations", dilations},
                  {"pads", pads},
                  {"auto_pad", std::string(kAutoPadNames[static_cast<size_t>(auto_pad)])}};
}

Result<std::vector<Dim>> KernelOf(const OnnxNode& n, const Shape& weight) {
  const auto given = n.Ints("kernel_shape");
  if (weight.rank() < 3) return std::vector<Dim>(given.begin(), given.end());
  std::vector<Dim> kernel(weight.dims.begin() + 2, weight.dims.end());
  if (given.empty()) return kernel;
  bool same = given.size() == kernel.size();
  for (size_t i = 0; same && i < given.size(); ++i)
    same = !kernel[i].known() || kernel[i].value() == given[i];
  if (!same)
    return n.Bad("kernel_shape [", Join(given, ", "), "] contradicts the weight's shape ", weight.ToString());
  return kernel;
}

}  // namespace tern::onnx
