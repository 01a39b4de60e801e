#include <algorithm>
#include <cmath>

#include "data/audio/features.h"

namespace tern::data {

std::vector<float> PreEmphasis(Signal signal, double coefficient) {
  std::vector<float> out(signal.begin(), signal.end());
  for (size_t i = 1; i < out.size(); ++i)
    out[i] =
        static_cast<float>(static_cast<double>(signal[i]) - coefficient * static_cast<double>(signal[i - 1]));
  return out;
}

std::vector<float> PadOrTrim(Signal signal, int64_t length) {
  std::vector<float> out(static_cast<size_t>(std::max<int64_t>(length, 0)));
  std::copy_n(signal.begin(), std::min(out.size(), signal.size()), out.begin());
  return out;
}

std::vector<float> NormaliseSignal(Signal signal, double epsilon) {
  const double n = static_cast<double>(std::max<size_t>(signal.size(), 1));
  double mean = 0, variance = 0;
  for (const float x : signal) mean += static_cast<double>(x) / n;
  for (const float x : signal) variance += std::pow(static_cast<double>(x) - mean, 2) / n;
  const double scale = 1 / std::sqrt(variance + epsilon);
  std::vector<float> out;
  out.reserve(signal.size());
  for (const float x : signal) out.push_back(static_cast<float>((static_cast<double>(x) - mean) * scale));
  return out;
}

Result<Tensor> NormaliseFeatures(const Tensor& features, int time_axis, bool variance, double epsilon) {
  if (features.dtype() != DType::kF32 || features.rank() != 2 || !features.contiguous() || time_axis < 0 ||
      time_axis > 1)
    return InvalidArgument("features must be f32[.,.] with the time axis 0 or 1, got ", features.Describe(),
                           " and axis ", time_axis);
  const int64_t time = features.dim(time_axis), count = features.dim(1 - time_axis);
  const int64_t step = time_axis == 1 ? 1 : count, next = time_axis == 1 ? time : 1;
  if (variance && time < 2) return InvalidArgument("a variance needs at least 2 frames, got ", time);
  return Guard([&]() -> Result<Tensor> {
    Tensor out = features.Clone();
    for (int64_t f = 0; f < count; ++f) {
      float* x = out.data<float>() + f * next;
      double mean = 0, squares = 0;
      for (int64_t t = 0; t < time; ++t) mean += static_cast<double>(x[t * step]) / static_cast<double>(time);
      for (int64_t t = 0; t < time; ++t) squares += std::pow(static_cast<double>(x[t * step]) - mean, 2);
      const double scale = variance ? 1 / (std::sqrt(squares / static_cast<double>(time - 1)) + epsilon) : 1;
      for (int64_t t = 0; t < time; ++t)
        x[t * step] = static_cast<float>((static_cast<double>(x[t * step]) - mean) * scale);
    }
    return out;
  });
}

}  // namespace tern::data
