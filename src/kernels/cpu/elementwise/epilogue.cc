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

void Epilogue::Reset(DType type, const Dims& dims) {
  type_ = type, compute_ = ComputeType(type);
  dims_.assign(dims.begin(), dims.end());
  term_count_ = 0, active_ = false;
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

void Epilogue::Apply(const Rows& rows) const {
  if (rows.width == 0) return;
  const int64_t width = WidthOf(compute_);
  for (int64_t r = 0; r < rows.count; ++r) {
    char* sums = static_cast<char*>(rows.sums) + r * rows.sums_step * width;
    for (int i = 0; i < term_count_; ++i)
      Add(terms_[static_cast<size_t>(i)], rows.index + r * rows.index_step, rows.width, sums);
    if (active_) Activate(rows.width, sums);
  }
}

void Epilogue::Add(const Term& term, int64_t index, int64_t count, char* sums) const {
  const auto add = AddSimd().run;
  const int64_t width = WidthOf(compute_);
  const bool has_stride = term.plan.steps[static_cast<size_t>(term.plan.rank - 1)][0] != 0,
             half = IsHalfPrecision(type_);
  if (term.plan.plain() && has_stride && !half)
    return add(compute_, sums, static_cast<const char*>(term.data) + index * width, sums, count);
  const int64_t chunk = has_stride && !half ? count : kTile;
  EachRow<1>(term.plan, index, index + count, [&](const std::array<int64_t, 1>& at, int64_t to, int64_t n) {
    Source source(type_, term.data, at[0], has_stride, n);
    for (int64_t i = 0; i < n; i += chunk) {
      const int64_t length = std::min(chunk, n - i);
      char* here = sums + (to - index + i) * width;
      add(compute_, here, source.At(i, length), here, length);
    }
  });
}

void Epilogue::Activate(int64_t count, void* sums) const {
  if (compute_ == DType::kF32) {
    auto* values = static_cast<float*>(sums);
    return UnarySimd().f32(kind_, values, values, count, alpha_, beta_);
  }
  auto* values = static_cast<double*>(sums);
  for (int64_t i = 0; i < count; ++i) values[i] = scalar_(scalar_kind_, alpha_, beta_, values[i]);
}

}  // namespace tern::cpu
