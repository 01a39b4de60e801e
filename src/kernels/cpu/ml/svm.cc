#include "kernels/cpu/ml/svm.h"

#include <algorithm>
#include <cmath>

namespace tern::cpu {
namespace {

constexpr float kMaxPower = 16;

// Returns whether powers are computed by repeated multiplication. Degree 0 and degrees that are not small
// integers use std::pow.
bool IsSmallInteger(float degree) {
  return degree >= 1 && degree <= kMaxPower && degree == std::floor(degree);
}

int64_t PanelCount(int64_t vectors) { return (vectors + kSvmPanel - 1) / kSvmPanel; }

}  // namespace

int64_t SupportVectors::PackedSize(int64_t count, int64_t width) {
  return PanelCount(count) * kSvmPanel * width;
}

SupportVectors::SupportVectors(const float* vectors, int64_t count, int64_t width, const Form& form,
                               float* packed)
    : count_(count), degree_(form.degree) {
  panels_.panels = packed;
  panels_.count = PanelCount(count);
  panels_.width = width;
  panels_.function = form.function, panels_.gamma = form.gamma, panels_.coef0 = form.coef0;
  if (form.function == SvmFunction::kPoly && IsSmallInteger(form.degree)) {
    panels_.power = static_cast<int>(form.degree);
  } else if (form.function == SvmFunction::kPoly) {
    panels_.function = SvmFunction::kAffine;
    general_power_ = true;
  }
  std::fill(packed, packed + PackedSize(count, width), 0.f);
  for (int64_t v = 0; v < count; ++v)
    for (int64_t i = 0; i < width; ++i)
      packed[(v / kSvmPanel * width + i) * kSvmPanel + v % kSvmPanel] = vectors[v * width + i];
}

void SupportVectors::Compare(const float* x, int64_t rows, float* y) const {
  SvmSimd().similarity(panels_, x, rows, y);
  if (!general_power_) return;
  for (int64_t r = 0; r < rows; ++r)
    for (float *at = y + r * row(), *end = at + count_; at < end; ++at)
      *at = static_cast<float>(std::pow(static_cast<double>(*at), static_cast<double>(degree_)));
}

int64_t SvmBlock(const SupportVectors& vectors) {
  constexpr int64_t kCached = 32768;  // in floats, half of an L2 cache of 256 KiB
  return std::clamp<int64_t>(kCached / std::max<int64_t>(1, vectors.row()), 4, 64);
}

}  // namespace tern::cpu
