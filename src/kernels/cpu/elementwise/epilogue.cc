#include "kernels/cpu/elementwise/epilogue.h"

#include "kernels/cpu/elementwise/source.h"

namespace tern::cpu {

DType ComputeType(DType result) {
  switch (result) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return DType::kF32;
    case DType::kF64:
      return DType::kF64;
    case DType::kI32:
    case DType::kU32:
      return DType::kU32;
    case DType::kI64:
    case DType::kU64:
      return DType::kU64;
    default:
      return DType::kInvalid;
  }
}

int Epilogue::AddTerm(const Dims& dims) {
  terms_[static_cast<size_t>(term_count_)].plan = MakeBroadcast<1>(dims_, {dims});
  return term_count_++;
}

void Epilogue::SetActivation(UnaryKind kind, float alpha, float beta, Scalar scalar, int scalar_kind) {
  active_ = true;
  kind_ = kind, alpha_ = alpha, beta_ = beta;
  scalar_ = scalar, scalar_kind_ = scalar_kind;
}

void Epilogue::Apply(int64_t index, int64_t count, void* values) const {
  if (count == 0) return;
  for (int i = 0; i < term_count_; ++i)
    Add(terms_[static_cast<size_t>(i)], index, count, static_cast<char*>(values));
  if (active_) Activate(count, values);
}

void Epilogue::Add(const Term& term, int64_t index, int64_t count, char* values) const {
  const bool steps = term.plan.steps[static_cast<size_t>(term.plan.rank - 1)][0] != 0;
  const int64_t width = WidthOf(compute_), chunk = steps && !IsNarrowFloat(type_) ? count : kTile;
  EachRow<1>(term.plan, index, index + count, [&](const std::array<int64_t, 1>& at, int64_t to, int64_t n) {
    Source source(type_, term.data, at[0], steps, n);
    for (int64_t i = 0; i < n; i += chunk) {
      const int64_t some = std::min(chunk, n - i);
      char* sums = values + (to - index + i) * width;
      BinarySimd().run(BinaryKind::kAdd, compute_, sums, source.At(i, some), sums, some);
    }
  });
}

void Epilogue::Activate(int64_t count, void* values) const {
  if (compute_ == DType::kF32) {
    auto* sums = static_cast<float*>(values);
    UnarySimd().f32(kind_, sums, sums, count, alpha_, beta_);
    return;
  }
  auto* sums = static_cast<double*>(values);
  for (int64_t i = 0; i < count; ++i) sums[i] = scalar_(scalar_kind_, alpha_, beta_, sums[i]);
}

}  // namespace tern::cpu
