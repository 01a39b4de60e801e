#include "import/mindir/ops/window.h"

namespace tern::mindir {
namespace {

// MindSpore's enum Format.
constexpr Names kFormats = {"nchw", "nhwc", "nhwc4", "hwkc", "hwck", "kchw",   "ckhw", "khwc",
                            "chwk", "hw",   "hw4",   "nc",   "nc4",  "nc4hw4", "ncdhw"};

}  // namespace

bool IsChannelsLast(MindNode& n, int index) {
  const std::string format = n.Text(index, {"format", "data_format"}, "nchw", kFormats);
  if (format != "nchw" && format != "ncdhw" && format != "nhwc" && format != "ndhwc")
    n.b.Fail(n.NotYet("format ", format));
  return format == "nhwc" || format == "ndhwc";
}

std::vector<int64_t> SpatialPart(const std::vector<int64_t>& numbers, int spatial, bool channels_last) {
  const auto wanted = static_cast<size_t>(spatial);
  if (numbers.size() == 1) return std::vector<int64_t>(wanted, numbers[0]);
  if (numbers.size() != wanted + 2) return numbers;
  const auto begin = numbers.begin() + (channels_last ? 1 : 2);
  return {begin, begin + spatial};
}

Result<AttrList> WindowAttrs(MindNode& n, const WindowInputs& inputs, int spatial, bool channels_last) {
  const auto wanted = static_cast<size_t>(spatial);
  AttrList attrs = {
      {"strides", SpatialPart(n.Ints(inputs.strides, {"stride", "strides"}, {1}), spatial, channels_last)}};
  const std::string mode = n.Text(inputs.pad_mode, {"pad_mode"}, "valid", {"pad", "same", "valid"});
  if (mode == "same") attrs.emplace_back("auto_pad", "same_upper");
  if (mode == "same" || mode == "valid") return attrs;
  if (mode != "pad") return n.NotYet("pad_mode ", mode);
  // MindSpore lists the pads of an axis together: top, bottom, left, right.
  std::vector<int64_t> pads = n.Ints(inputs.pads, {"pad", "pad_list"}, {0}), ordered(2 * wanted);
  if (pads.size() == 1) pads.assign(2 * wanted, pads[0]);
  if (pads.size() != 2 * wanted)
    return n.Bad("pad must have ", 2 * wanted, " numbers, but has ", pads.size());
  for (size_t i = 0; i < wanted; ++i) {
    ordered[i] = pads[2 * i];
    ordered[i + wanted] = pads[2 * i + 1];
  }
  attrs.emplace_back("pads", ordered);
  return attrs;
}

}  // namespace tern::mindir
