#include "kernels/cpu/conv/conv.h"

#include <algorithm>
#include <cstring>

namespace tern::cpu {
namespace {

int64_t FloorDivInt(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

struct Image {
  const ConvShape* shape;
  const void* x;
};

template <class T, class S> T ValueOf(S v) { return static_cast<T>(v); }
struct HalfBits {
  uint16_t bits;
};
struct BFloatBits {
  uint16_t bits;
};
template <> float ValueOf<float, HalfBits>(HalfBits v) { return HalfToFloat(v.bits); }
template <> float ValueOf<float, BFloatBits>(BFloatBits v) { return BFloatToFloat(v.bits); }

// Writes the elements of one row of the im2col matrix that belong to output columns [from, to) of one output
// row. x is the input row that the tap reads, or null if that row is padding.
template <class T, class S>
void Im2colRow(const S* x, int64_t shift, int64_t stride, Inside inside, int64_t from, int64_t to, T* out) {
  const int64_t first = x ? std::clamp(inside.first, from, to) : to,
                last = x ? std::clamp(inside.last, first, to) : to;
  std::fill(out, out + (first - from), T(0));
  T* at = out + (first - from);
  const S* source = x ? x + shift + first * stride : nullptr;
  const int64_t n = last - first;
  if constexpr (std::is_same_v<T, S>) {
    if (stride == 1) {
      if (n > 0) std::memcpy(at, source, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) at[i] = source[i * stride];
    }
  } else {
    for (int64_t i = 0; i < n; ++i) at[i] = ValueOf<T>(source[i * stride]);
  }
  std::fill(out + (last - from), out + (to - from), T(0));
}

// Implements RowSource. Row k of the im2col matrix contains the elements that one tap of one channel reads
// for all output positions.
template <class T, class S>
void Im2col(const void* context, int64_t batch, int64_t k, int64_t n0, int64_t count, void* to) {
  const auto& image = *static_cast<const Image*>(context);
  const ConvShape& s = *image.shape;
  const int64_t channel = k / s.taps(), tap = k % s.taps();
  const Spatial t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
  const S* x = static_cast<const S*>(image.x) + (batch * s.group_channels() + channel) * s.input_size();
  Spatial shift;
  for (size_t i = 0; i < 3; ++i) shift[i] = t[i] * s.dilation[i] - s.begin[i];
  const Inside inside = InsideOf(shift[2], s.stride[2], s.input[2], s.output[2]);
  T* out = static_cast<T*>(to);
  int64_t column = n0 % s.output[2], row = n0 / s.output[2];
  while (count > 0) {
    const int64_t end = std::min(s.output[2], column + count);
    const int64_t z = row / s.output[1] * s.stride[0] + shift[0],
                  y = row % s.output[1] * s.stride[1] + shift[1];
    const bool row_inside = z >= 0 && z < s.input[0] && y >= 0 && y < s.input[1];
    Im2colRow<T, S>(row_inside ? x + (z * s.input[1] + y) * s.input[2] : nullptr, shift[2], s.stride[2],
                    inside, column, end, out);
    out += end - column;
    count -= end - column;
    column = 0;
    ++row;
  }
}

RowSource Im2colOf(DType x, DType compute) {
  if (compute == DType::kU32) {
    switch (x) {
      case DType::kI8:
        return Im2col<uint32_t, int8_t>;
      case DType::kU8:
        return Im2col<uint32_t, uint8_t>;
      case DType::kI16:
        return Im2col<uint32_t, int16_t>;
      case DType::kU16:
        return Im2col<uint32_t, uint16_t>;
      default:
        return Im2col<uint32_t, uint32_t>;
    }
  }
  switch (x) {
    case DType::kF16:
      return Im2col<float, HalfBits>;
    case DType::kBF16:
      return Im2col<float, BFloatBits>;
    case DType::kF32:
      return Im2col<float, float>;
    case DType::kF64:
      return Im2col<double, double>;
    default:
      return Im2col<uint64_t, uint64_t>;
  }
}

}  // namespace

Inside InsideOf(int64_t shift, int64_t stride, int64_t input, int64_t output) {
  if (shift >= 0 && shift + (output - 1) * stride < input) return {0, output};  // the common case: no padding
  const int64_t first = std::clamp<int64_t>(-FloorDivInt(shift, stride), 0, output);
  const int64_t last = FloorDivInt(input - 1 - shift, stride) + 1;
  return {first, std::clamp(last, first, output)};
}

ConvAsGemm::ConvAsGemm(const ConvShape& shape, DType x, DType w, DType y)
    : shape_(shape), x_type_(x), w_type_(w), y_type_(y) {
  direct_ = shape.taps() == 1 && shape.input == shape.output && shape.stride == Spatial{1, 1, 1} &&
            shape.begin == Spatial{0, 0, 0};
  const int64_t count = shape.batch * shape.group, maps = shape.group_maps();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t group = i % shape.group;
    w_at_.push_back(group * maps * shape.group_channels() * shape.taps());
    x_at_.push_back(i * shape.group_channels() * shape.input_size());
    y_at_.push_back(i * maps * shape.output_size());
    bias_at_.push_back(group * maps);
  }
}

GemmParams ConvAsGemm::Params() const {
  GemmParams p;
  p.m = shape_.group_maps(), p.n = shape_.output_size(), p.k = shape_.group_channels() * shape_.taps();
  p.a = {nullptr, w_type_, p.k, 1};
  if (direct_)
    p.b = {nullptr, x_type_, p.n, 1};
  else
    p.b_rows = Im2colOf(x_type_, ComputeType(y_type_));
  p.c_type = y_type_;
  p.c_row = p.n;
  p.count = shape_.batch * shape_.group;
  p.a_at = w_at_.data(), p.b_at = x_at_.data(), p.c_at = y_at_.data(), p.bias_at = bias_at_.data();
  return p;
}

size_t ConvAsGemm::Scratch(int threads) const { return GemmScratch(Params(), threads); }

void ConvAsGemm::Run(const void* x, const void* w, const void* bias, const Epilogue* epilogue, void* y,
                     void* scratch, const Workers& workers) const {
  GemmParams p = Params();
  const Image image{&shape_, x};
  p.a.data = w;
  p.b.data = x;
  p.b_context = &image;
  p.c = y;
  p.row_bias = bias;
  p.epilogue = epilogue;
  Gemm(p, scratch, workers);
}

}  // namespace tern::cpu
