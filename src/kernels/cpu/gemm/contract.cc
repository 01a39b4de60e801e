#include "kernels/cpu/gemm/contract.h"

#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/width.h"

namespace tern::cpu {
namespace {

// Returns whether the copy would change nothing: source and target are contiguous and in the same order.
bool IsIdentity(const StridedCopy& plan) {
  return plan.from == 0 && plan.to == 0 &&
         (plan.rank == 0 || (plan.rank == 1 && plan.axes[0].from == 1 && plan.axes[0].to == 1));
}

GemmParams Params(const Contraction& c) {
  GemmParams p;
  p.m = c.m, p.n = c.n, p.k = c.k;
  p.a = {nullptr, c.type, c.k, 1};
  p.b = {nullptr, c.type, c.n, 1};
  p.c_type = c.type;
  p.c_row = c.n;
  p.count = c.batch;
  p.a_at = c.a_at.data(), p.b_at = c.b_at.data(), p.c_at = c.y_at.data();
  return p;
}

size_t BytesFor(const Contraction& c, const StridedCopy& plan) {
  return IsIdentity(plan) ? 0
                          : Aligned(static_cast<size_t>(plan.count) * static_cast<size_t>(WidthOf(c.type)));
}

}  // namespace

size_t ContractionScratch(const Contraction& c, int threads) {
  return BytesFor(c, c.a) + BytesFor(c, c.b) + BytesFor(c, c.y) + GemmScratch(Params(c), threads);
}

void Contract(const Contraction& c, const void* a, const void* b, void* y, void* scratch,
              const Workers& workers) {
  const int width = WidthOf(c.type);
  char* at = static_cast<char*>(scratch);
  const auto permuted = [&](const StridedCopy& plan, const void* from) {
    if (IsIdentity(plan)) return from;
    void* to = at;
    at += BytesFor(c, plan);
    Copy(plan, from, to, width, workers);
    return static_cast<const void*>(to);
  };
  GemmParams p = Params(c);
  p.a.data = permuted(c.a, a);
  p.b.data = permuted(c.b, b);
  p.c = y;
  if (!IsIdentity(c.y)) {
    p.c = at;
    at += BytesFor(c, c.y);
  }
  Gemm(p, at, workers);
  if (p.c != y) Copy(c.y, p.c, y, width, workers);
}

}  // namespace tern::cpu
