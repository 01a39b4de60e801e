#include "ops/shape/element_copy.h"

#include <cstring>

namespace tern {
namespace {

struct Loop {
  int64_t count, from, to;  // number of iterations; strides in the source and in the target
};

// Returns the loop nest over dims. Loops of one iteration are omitted. Two adjacent loops are merged if, in
// source and target, the stride of the outer loop is the stride of the inner loop times its count.
std::vector<Loop> Nest(const Dims& dims, const ElementView& source, const ElementView& target) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Loop next{dims[i], source.strides[i], target.strides[i]};
    if (next.count == 1) continue;
    Loop* last = loops.empty() ? nullptr : &loops.back();
    if (last && last->from == next.from * next.count && last->to == next.to * next.count)
      *last = {last->count * next.count, next.from, next.to};
    else
      loops.push_back(next);
  }
  if (loops.empty()) loops.push_back({1, 1, 1});
  return loops;
}

// Calls body(from, to) with the offsets in source and target at which each innermost loop starts.
template <class F>
void EachRun(const std::vector<Loop>& loops, size_t depth, int64_t from, int64_t to, F& body) {
  if (depth + 1 == loops.size()) return body(from, to);
  const Loop& loop = loops[depth];
  for (int64_t i = 0; i < loop.count; ++i)
    EachRun(loops, depth + 1, from + i * loop.from, to + i * loop.to, body);
}

template <class T>
void CopyTyped(const T* from, int64_t source, T* to, int64_t target, const std::vector<Loop>& loops) {
  const Loop inner = loops.back();
  auto body = [&](int64_t f, int64_t t) {
    if (inner.from == 1 && inner.to == 1) {
      std::copy(from + f, from + f + inner.count, to + t);
      return;
    }
    for (int64_t i = 0; i < inner.count; ++i) to[t + i * inner.to] = from[f + i * inner.from];
  };
  EachRun(loops, 0, source, target, body);
}

void CopyPacked(const Tensor& from, int64_t source, Tensor& to, int64_t target,
                const std::vector<Loop>& loops) {
  const int bits = BitWidth(from.dtype());
  const unsigned mask = (1u << bits) - 1;
  const auto* x = from.data<uint8_t>();
  auto* y = to.data<uint8_t>();
  const Loop inner = loops.back();
  auto body = [&](int64_t f, int64_t t) {
    for (int64_t i = 0; i < inner.count; ++i) {
      const int64_t fb = (f + i * inner.from) * bits, tb = (t + i * inner.to) * bits;
      const unsigned v = x[fb >> 3] >> (fb & 7) & mask;
      y[tb >> 3] = static_cast<uint8_t>((y[tb >> 3] & ~(mask << (tb & 7))) | v << (tb & 7));
    }
  };
  EachRun(loops, 0, source, target, body);
}

struct Wide {  // c128
  uint64_t low, high;
};

}  // namespace

void CopyElements(const Tensor& from, const ElementView& source, Tensor& to, const ElementView& target,
                  const Dims& dims) {
  TERN_CHECK(from.dtype() == to.dtype(), "copy of ", from.Describe(), " into ", to.Describe());
  for (int64_t d : dims)
    if (d == 0) return;
  const auto loops = Nest(dims, source, target);
  const int64_t f = source.offset, t = target.offset;
  if (from.dtype() == DType::kString)
    return CopyTyped(from.data<std::string>(), f, to.data<std::string>(), t, loops);
  switch (BitWidth(from.dtype())) {
    case 8:
      return CopyTyped(from.data<uint8_t>(), f, to.data<uint8_t>(), t, loops);
    case 16:
      return CopyTyped(from.data<uint16_t>(), f, to.data<uint16_t>(), t, loops);
    case 32:
      return CopyTyped(from.data<uint32_t>(), f, to.data<uint32_t>(), t, loops);
    case 64:
      return CopyTyped(from.data<uint64_t>(), f, to.data<uint64_t>(), t, loops);
    case 128:
      return CopyTyped(from.data<Wide>(), f, to.data<Wide>(), t, loops);
    default:
      return CopyPacked(from, f, to, t, loops);
  }
}

void CopyRun(const Tensor& from, int64_t source, Tensor& to, int64_t target, int64_t count) {
  const int bits = BitWidth(from.dtype());
  if (from.dtype() == DType::kString) {
    std::copy_n(from.data<std::string>() + source, count, to.data<std::string>() + target);
  } else if (bits >= 8) {
    const int64_t width = bits / 8;
    if (count > 0)
      std::memcpy(to.data<uint8_t>() + target * width, from.data<uint8_t>() + source * width,
                  static_cast<size_t>(count * width));
  } else {
    CopyElements(from, {source, {1}}, to, {target, {1}}, {count});
  }
}

// Copies along `axis` and all later dims. In the last dim, contiguous elements are copied at once.
static void CopyMappedFrom(const Tensor& x, Tensor& y, const std::vector<std::vector<int64_t>>& sources,
                           size_t axis, int64_t from, int64_t to) {
  if (axis == sources.size()) return CopyRun(x, from, y, to, 1);
  const auto& map = sources[axis];
  const auto size = static_cast<int64_t>(map.size());
  for (int64_t o = 0; o < size; ++o) {
    const int64_t i = map[static_cast<size_t>(o)];
    if (i < 0) continue;
    const int64_t f = from * x.dim(static_cast<int>(axis)) + i, t = to * size + o;
    if (axis + 1 < sources.size()) {
      CopyMappedFrom(x, y, sources, axis + 1, f, t);
      continue;
    }
    int64_t run = 1;
    while (o + run < size && map[static_cast<size_t>(o + run)] == i + run) ++run;
    CopyRun(x, f, y, t, run);
    o += run - 1;
  }
}

void CopyMapped(const Tensor& x, Tensor& y, const std::vector<std::vector<int64_t>>& sources) {
  if (y.size() > 0) CopyMappedFrom(x, y, sources, 0, 0, 0);
}

void FillElements(const Tensor& from, int64_t source, Tensor& to) {
  CopyElements(from, {source, {0}}, to, {0, {1}}, {to.size()});
}

}  // namespace tern
