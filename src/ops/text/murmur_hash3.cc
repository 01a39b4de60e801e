// MurmurHash3: 32-bit hashes of elements.
#include <cstring>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct MurmurHash3 {
  int64_t seed = 0;
  bool positive = true;
  template <class V> void Visit(V& v) {
    v("seed", seed, "an unsigned 32-bit number");
    v("positive", positive, "the result is u32; otherwise i32");
  }
};

Status Infer(const MurmurHash3& op, InferContext& c) {
  if (op.seed < 0 || op.seed > UINT32_MAX)
    return InvalidModel("seed is ", op.seed, ", but must be an unsigned 32-bit number");
  c.Out("y", op.positive ? DType::kU32 : DType::kI32, c.ShapeOf("x"));
  return {};
}

uint32_t Rotated(uint32_t v, int by) { return v << by | v >> (32 - by); }

// Computes Austin Appleby's MurmurHash3_x86_32.
uint32_t Hash(const char* data, size_t size, uint32_t seed) {
  const auto mixed = [](uint32_t k) { return Rotated(k * 0xCC9E2D51u, 15) * 0x1B873593u; };
  uint32_t h = seed;
  size_t at = 0;
  for (; at + 4 <= size; at += 4) {
    uint32_t k = 0;
    std::memcpy(&k, data + at, 4);
    h = Rotated(h ^ mixed(k), 13) * 5 + 0xE6546B64u;
  }
  uint32_t tail = 0;
  std::memcpy(&tail, data + at, size - at);
  if (at < size) h ^= mixed(tail);
  h ^= static_cast<uint32_t>(size);
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

Status Reference(const MurmurHash3& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  Tensor& y = c.Out("y", x.dims());
  const auto seed = static_cast<uint32_t>(op.seed);
  const auto width = static_cast<size_t>(BitWidth(x.dtype()) / 8);
  for (int64_t i = 0; i < x.size(); ++i) {
    const bool text = x.dtype() == DType::kString;
    const char* data =
        text ? x.data<std::string>()[i].data() : x.data<char>() + static_cast<size_t>(i) * width;
    y.data<uint32_t>()[i] = Hash(data, text ? x.data<std::string>()[i].size() : width, seed);
  }
  return {};
}

constexpr DTypeSet kHashed = SetOf(DType::kI32) | SetOf(DType::kU32) | SetOf(DType::kI64) |
                             SetOf(DType::kU64) | SetOf(DType::kF32) | SetOf(DType::kF64) | kStrings;

}  // namespace

TERN_OP(MurmurHash3) {
  return OpDef::Of<MurmurHash3>("the MurmurHash3_x86_32 of each element's bytes")
      .In("x", kHashed)
      .Out("y", SetOf(DType::kU32) | SetOf(DType::kI32))
      .Flops(No{"it mixes the bits of integers"})
      .Batch(kNoKernel)
      .Axes(kNoKernel)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
