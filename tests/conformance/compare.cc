#include "compare.h"

#include <cmath>
#include <cstring>

namespace tern {
namespace {

std::string CompareFloats(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance) {
  const auto a = ToDoubles(got), b = ToDoubles(wanted);
  double worst = 0;
  size_t where = 0, count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double error = std::fabs(a[i] - b[i]);
    if (error <= tolerance.absolute + tolerance.relative * std::fabs(b[i])) continue;
    ++count;
    if (!(error <= worst)) {
      worst = error;
      where = i;
    }
  }
  if (count == 0) return {};
  return StrCat(count, " of ", a.size(), " elements differ, most at [", where, "]: got ", a[where], ", wanted ", b[where]);
}

std::string CompareExactly(const Tensor& got, const Tensor& wanted) {
  if (SameTensor(got, wanted)) return {};
  if (got.dtype() == DType::kString) {
    const auto a = ToStrings(got), b = ToStrings(wanted);
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return StrCat("string [", i, "]: got ", QuoteText(a[i]), ", wanted ", QuoteText(b[i]));
    return {};
  }
  if (IsComplex(got.dtype())) return "complex elements differ";
  const auto a = ToLongs(got), b = ToLongs(wanted);
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return StrCat("element [", i, "]: got ", a[i], ", wanted ", b[i]);
  return {};  // padding bits of packed types may differ
}

std::string CompareTensors(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance) {
  if (got.dtype() != wanted.dtype() || got.dims() != wanted.dims()) return StrCat("got ", got.Describe(), ", wanted ", wanted.Describe());
  return IsFloat(got.dtype()) ? CompareFloats(got, wanted, tolerance) : CompareExactly(got, wanted);
}

std::string CompareLists(const DatumList& got, const DatumList& wanted, const Tolerance& tolerance) {
  if (got.size() != wanted.size()) return StrCat("got ", got.size(), " items, wanted ", wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string difference = Difference(got[i], wanted[i], tolerance);
    if (!difference.empty()) return StrCat("item ", i, ": ", difference);
  }
  return {};
}

}  // namespace

std::string Difference(const Datum& got, const Datum& wanted, const Tolerance& tolerance) {
  if (got.kind != wanted.kind) return StrCat("got ", got.Describe(), ", wanted ", wanted.Describe());
  if (got.is_tensor()) return CompareTensors(got.tensor, wanted.tensor, tolerance);
  if (got.is_sequence()) return CompareLists(*got.sequence, *wanted.sequence, tolerance);
  if (got.kind == Datum::Kind::kMap) {
    const std::string keys = CompareTensors(got.map->keys, wanted.map->keys, tolerance);
    return keys.empty() ? CompareLists(got.map->values, wanted.map->values, tolerance) : "keys: " + keys;
  }
  return {};
}

}  // namespace tern
