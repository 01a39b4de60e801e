// Binds Range to a loop.
#include "runtime/bind/support.h"

namespace tern {
namespace {

// The inputs are start, limit and delta. Shape inference has computed the number of elements.
class Range : public KernelOf<Range> {
 public:
  static bool Legal(const KernelQuery& q) {
    const DType type = q.OutType(0);
    return q.AllTypes(type) &&
           (type == DType::kI64 || type == DType::kI32 || type == DType::kF32 || type == DType::kF64);
  }
  Status Run(RunContext& c) override {
    if (c.Out(0).dtype() == DType::kI64) return Fill<int64_t, uint64_t>(c);
    if (c.Out(0).dtype() == DType::kI32) return Fill<int32_t, uint32_t>(c);
    if (c.Out(0).dtype() == DType::kF64) return Fill<double, double>(c);
    return Fill<float, double>(c);
  }

 private:
  // `Sums` is the type of the intermediate sums. Integers are added in an unsigned type, which wraps around
  // without undefined behaviour. f32 is added in double, to avoid rounding errors.
  template <class T, class Sums> static Status Fill(const RunContext& c) {
    const auto first = static_cast<Sums>(*c.In<T>(0)), step = static_cast<Sums>(*c.In<T>(2));
    T* y = c.Out<T>(0);
    const int64_t n = c.Out(0).size();
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(first + static_cast<Sums>(i) * step);
    return {};
  }
};

}  // namespace

TERN_KERNELS(Range) { table.Add<Range>("Range", "cpu.range", Range::Legal); }

}  // namespace tern
