// Tests channels-last nodes, which are exported as ONNX operators between Transposes. The imported model must
// compute the same results.
#include "export/onnx/ops/round_trip_test_support.h"

namespace tern::onnx {
namespace {

void CheckRoundTrip(const std::string& inputs, const std::string& call, const std::string& attrs = "") {
  const std::string text = StrCat("graph @g(", inputs, ") -> (%y) {\n  %y = ", call, " {", attrs,
                                  attrs.empty() ? "" : ", ", "channels_last=true}\n}");
  SCOPED_TRACE(text);
  ExpectRoundTrip(text);
}

TEST(ExportChannelsLast, Convolutions) {
  const std::string xw = "%x: f32[2,5,6,4], %w: f32[6,2,3,3]";
  CheckRoundTrip(xw, "Conv(%x, %w)", "group=2, pads=[1,1,0,0]");
  CheckRoundTrip(xw + ", %b: f32[6], %r: f32[2,3,4,6]", "Conv(%x, %w, %b, %r)",
                 "group=2, activation=\"relu\"");
  CheckRoundTrip(xw + ", %r: f32[4,1]", "Conv(%x, %w, _, %r)", "group=2");
  CheckRoundTrip("%x: u8[1,5,4], %w: i8[3,4,2], %b: i32[3]", "Conv(%x, %w, %b)");
  CheckRoundTrip("%x: f32[1,4,3], %w: f32[3,2,3], %b: f32[2], %r: f32[2]", "ConvTranspose(%x, %w, %b, %r)",
                 "strides=[2], activation=\"tanh\"");
}

TEST(ExportChannelsLast, OtherOps) {
  const std::string x = "%x: f32[2,6,4,12]", norm = x + ", %s: f32[12], %b: f32[12]";
  CheckRoundTrip(x, "Pool(%x)", "kind=\"max\", kernel=[2,2]");
  CheckRoundTrip(x, "Pool(%x)", "kind=\"average\", kernel=[2,3], strides=[2,2], ceil_mode=true");
  CheckRoundTrip(x, "GlobalPool(%x)", "kind=\"max\"");
  CheckRoundTrip(x, "Lrn(%x)", "size=3");
  CheckRoundTrip(x, "DepthToSpace(%x)", "block=2, mode=\"CRD\"");
  CheckRoundTrip(x, "SpaceToDepth(%x)", "block=2");
  CheckRoundTrip(norm, "InstanceNorm(%x, %s, %b)");
  CheckRoundTrip(norm, "GroupNorm(%x, %s, %b)", "groups=3");
}

}  // namespace
}  // namespace tern::onnx
