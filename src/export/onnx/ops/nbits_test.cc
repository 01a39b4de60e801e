#include "export/onnx/ops/round_trip_test_support.h"

namespace tern::onnx {
namespace {

// Returns the text of a graph whose MatMulNBits has weights [70, 6] or [6, 70] and blocks of 32.
std::string Node(const std::string& type, bool transposed, bool zeros, const std::string& more = "") {
  std::string w, s, z;
  const int range = type.ends_with("4") ? 7 : 90, low = type[0] == 'i' ? -range : 0;
  for (int i = 0; i < 420; ++i) w += StrCat(i ? ", " : "", low + (i * 37) % (2 * range));
  for (int i = 0; i < 18; ++i) s += StrCat(i ? ", " : "", 0.01 * (1 + i % 5));
  for (int i = 0; i < 18; ++i) z += StrCat(i ? ", " : "", i % 4);
  const char *dims = transposed ? "6,70" : "70,6", *blocks = transposed ? "6,3" : "3,6";
  return StrCat("graph @g(%x: f32[2,70], %r: f32[2,6]) -> (%y) {\n  #w: ", type, "[", dims, "] = (", w,
                ")  #s: f32[", blocks, "] = (", s, ")  #z: ", type, "[", blocks, "] = (", z,
                ")  #b: f32[6] = (1, 2, 3, -4, 5, 6)\n  %y = MatMulNBits(%x, #w, #b, %r, #s",
                zeros ? ", #z" : "", ") {block_size=32, transpose_b=", transposed ? "true" : "false", more,
                "}\n}");
}

TEST(NBitsExport, KeepsResults) {
  for (const char* type : {"i4", "u4", "i8", "u8"})
    for (bool transposed : {false, true})
      for (bool zeros : {false, true})
        for (bool contrib : {false, true})
          ExpectRoundTrip(Node(type, transposed, zeros, ", activation=\"relu\""), {.contrib = contrib});
}

TEST(NBitsExport, KeepsResultsOfDynamicQuantization) {
  for (bool transposed : {false, true}) ExpectRoundTrip(Node("i8", transposed, true, ", dynamic=true"));
  for (const char* scale : {"#s: f32[3] = (0.5, 0.25, 1)", "#s: f32[] = (0.5)"})
    ExpectRoundTrip(
        StrCat("graph @g(%x: f32[2,4]) -> (%y) {\n  #w: i8[4,3] = (1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, "
               "-127)  ",
               scale, "\n  %y = MatMulNBits(%x, #w, _, _, #s) {dynamic=true}\n}"));
}

}  // namespace
}  // namespace tern::onnx
