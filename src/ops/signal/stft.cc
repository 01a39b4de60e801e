// STFT: the Fourier transform of the windowed frames of a signal.
#include "ops/shape/axes.h"
#include "ops/signal/fourier.h"

namespace tern {
namespace {

struct STFT {
  bool onesided = true;
  template <class V> void Visit(V& v) {
    v("onesided", onesided, "y has only the first frame_length/2 + 1 frequencies");
  }
};

std::optional<Dim> ScalarContent(const InferContext& c, std::string_view port) {
  const auto content = c.Has(port) ? c.ContentOf(port) : std::nullopt;
  return content && content->size() == 1 ? std::optional<Dim>((*content)[0]) : std::nullopt;
}

Status CheckSizes(const Dim& step, const Dim& length) {
  if (step.known() && step.value() < 1)
    return InvalidModel("frame_step is ", step.value(), ", but must be at least 1");
  if (length.known() && length.value() < 1)
    return InvalidModel("frame_length is ", length.value(), ", but must be at least 1");
  return {};
}

Dim FrameCount(const Dim& signal, const Dim& length, const Dim& step) {
  return Max(0, FloorDiv(signal - length, step) + Dim(1));
}

Dim BinCount(const STFT& op, const Dim& length) {
  return op.onesided ? FloorDiv(length, 2) + Dim(1) : length;
}

Status Infer(const STFT& op, InferContext& c) {
  const Shape &x = c.ShapeOf("signal"), &window = c.ShapeOf("window");
  if (x.ranked &&
      (x.rank() < 2 || x.rank() > 3 || (x.rank() == 3 && x[2].known() && !x[2].Is(1) && !x[2].Is(2))))
    return InvalidModel("signal must be [batch,length], [batch,length,1] or [batch,length,2], got ",
                        x.ToString());
  if (window.ranked && window.rank() != 1)
    return InvalidModel("window must have rank 1, got ", window.ToString());
  const Dim samples = x.ranked ? x[1] : Dim(), step = ScalarContent(c, "frame_step").value_or(Dim());
  Dim length = samples;
  if (c.Has("frame_length"))
    length = ScalarContent(c, "frame_length").value_or(Dim());
  else if (c.Has("window"))
    length = window.ranked ? window[0] : Dim();
  TERN_TRY(CheckSizes(step, length));
  c.Out("y", c.TypeOf("signal"),
        Shape({x.ranked ? x[0] : Dim(), FrameCount(samples, length, step), BinCount(op, length), 2}));
  return {};
}

Status Reference(const STFT& op, EvalContext& c) {
  const Tensor& x = c.In("signal");
  const int64_t samples = x.dim(1), parts = x.rank() == 3 ? x.dim(2) : 1, step = c.Longs("frame_step").at(0);
  const auto window = c.Has("window") ? c.Doubles("window") : std::vector<double>();
  int64_t length = c.Has("window") ? static_cast<int64_t>(window.size()) : samples;
  if (c.Has("frame_length")) length = c.Longs("frame_length").at(0);
  TERN_TRY(CheckSizes(step, length));
  const int64_t frames = FrameCount(samples, length, step).value(), bins = BinCount(op, length).value();
  Tensor& y = c.Out("y", {x.dim(0), frames, bins, 2});
  int64_t to = 0;
  for (int64_t row = 0; row < x.dim(0) * frames; ++row) {
    const int64_t n = row / frames, first = row % frames * step;
    std::vector<std::complex<double>> frame(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i) {
      const auto k = static_cast<size_t>(i);
      if (c.Has("window") && k >= window.size()) break;  // elements of the frame beyond the window are zero
      const double weight = c.Has("window") ? window[k] : 1;
      const int64_t at = (n * samples + first + i) * parts;
      frame[k] = std::complex<double>(LoadDouble(x, at), parts == 2 ? LoadDouble(x, at + 1) : 0) * weight;
    }
    Fourier(frame, false);
    for (int64_t k = 0; k < bins; ++k) {
      StoreDouble(y, to++, frame[static_cast<size_t>(k)].real());
      StoreDouble(y, to++, frame[static_cast<size_t>(k)].imag());
    }
  }
  return {};
}

}  // namespace

TERN_OP(STFT) {
  return OpDef::Of<STFT>(
             "the Fourier transform of windowed frames of frame_length samples, with a stride of frame_step")
      .In("signal", kFloats)
      .Setting("frame_step", kIndices)
      .OptIn("window", kFloats)
      .OptSetting("frame_length", kIndices)
      .Out("y", kFloats)
      .Flops(No{"depends on the factors of the length"})
      .Batch(kNoKernel)
      .Axes(No{"the axes must be batch, time and parts, in this order"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
