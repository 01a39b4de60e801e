// Converts Fourier transforms, window functions and mel filter banks.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

Status DFT(OnnxNode& n) {
  // Before version 20, the axis is an attribute instead of an input. Its default is 1.
  Value* axis = n.opset < 20 ? n.b.Ints({n.Int("axis", 1)}) : n.In(2);
  n.Out(0, n.b.Op("DFT", {n.In(0), n.In(1), axis},
                  {{"inverse", n.Int("inverse") != 0}, {"onesided", n.Int("onesided") != 0}}));
  return {};
}

Status STFT(OnnxNode& n) {
  n.Out(0, n.b.Op("STFT", {n.In(0), n.In(1), n.In(2), n.In(3)}, {{"onesided", n.Int("onesided", 1) != 0}}));
  return {};
}

Status MelWeightMatrix(OnnxNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("output_datatype", DType::kF32));
  n.Out(0, n.b.Op("MelWeightMatrix", {n.In(0), n.In(1), n.In(2), n.In(3), n.In(4)}, {{"dtype", dtype}}));
  return {};
}

Converter WindowOf(const char* kind) {
  return [=](OnnxNode& n) -> Status {
    TERN_ASSIGN(const DType dtype, n.DTypeAttr("output_datatype", DType::kF32));
    n.Out(0,
          n.b.Op("Window", {n.In(0)},
                 {{"kind", std::string(kind)}, {"periodic", n.Int("periodic", 1) != 0}, {"dtype", dtype}}));
    return {};
  };
}

}  // namespace

TERN_CONVERTERS(signal) {
  table.Add("DFT", DFT);
  table.Add("STFT", STFT);
  table.Add("MelWeightMatrix", MelWeightMatrix);
  table.Add("HannWindow", WindowOf("hann"));
  table.Add("HammingWindow", WindowOf("hamming"));
  table.Add("BlackmanWindow", WindowOf("blackman"));
}

}  // namespace tern::onnx
