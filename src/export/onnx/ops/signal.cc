// Exports Fourier transforms, window functions and mel filter banks.
#include "export/onnx/exporter.h"

namespace tern::onnx {
namespace {

// Returns the name of input i, reshaped to a scalar as ONNX requires. Tern also accepts a tensor of a
// higher rank with one element.
std::string Scalar(TernNode& n, int i, bool as_long = false) {
  if (!n.Has(i)) return "";
  std::string in = n.In(i);
  if (n.TypeOf(i).shape.rank() != 0) in = n.Op("Reshape", {in, n.Ints({})});
  if (as_long && n.TypeOf(i).dtype == DType::kI32) in = n.Op("Cast", {in}, {{"to", DType::kI64}});
  return in;
}

Status DFT(TernNode& n) {
  n.Emit("DFT", {n.In(0), Scalar(n, 1), Scalar(n, 2, true)}, n.Outs(),
         {{"inverse", n.attrs().Bool("inverse")}, {"onesided", n.attrs().Bool("onesided")}});
  return {};
}

Status STFT(TernNode& n) {
  n.Emit("STFT", {n.In(0), Scalar(n, 1), n.In(2), Scalar(n, 3)}, n.Outs(),
         {{"onesided", n.attrs().Bool("onesided")}});
  return {};
}

Status MelWeightMatrix(TernNode& n) {
  std::vector<std::string> inputs;
  for (int i = 0; i < 5; ++i) inputs.push_back(Scalar(n, i));
  n.Emit("MelWeightMatrix", inputs, n.Outs(), {{"output_datatype", n.attrs().Type("dtype")}});
  return {};
}

Status Window(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  const char* op = kind == "hann" ? "HannWindow" : kind == "hamming" ? "HammingWindow" : "BlackmanWindow";
  n.Emit(op, {Scalar(n, 0)}, n.Outs(),
         {{"periodic", n.attrs().Bool("periodic")}, {"output_datatype", n.attrs().Type("dtype")}});
  return {};
}

}  // namespace

TERN_EXPORTERS(signal) {
  table.Add("DFT", DFT);
  table.Add("STFT", STFT);
  table.Add("MelWeightMatrix", MelWeightMatrix);
  table.Add("Window", Window);
}

}  // namespace tern::onnx
