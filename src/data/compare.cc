#include "data/compare.h"

#include <algorithm>
#include <cmath>

namespace tern::data {
namespace {

std::string Place(int64_t index, const Dims& dims) {
  Dims at(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    at[d] = index % dims[d];
    index /= dims[d];
  }
  return StrCat("[", Join(at, ","), "]");
}

// Describes the difference by one element. `which` says how it was chosen: "worst" or "first".
void Note(Comparison& c, const Dims& dims, const char* which, int64_t index, const std::string& got,
          const std::string& wanted) {
  if (c.wrong)
    c.difference = StrCat(c.wrong, " of ", c.elements, " elements differ, the ", which, " at ",
                          Place(index, dims), ": got ", got, ", wanted ", wanted);
}

double LargestOf(const Tensor& t) {
  double largest = 0;
  for (int64_t i = 0; i < t.size(); ++i)
    if (const double magnitude = std::fabs(LoadDouble(t, i)); std::isfinite(magnitude))
      largest = std::max(largest, magnitude);
  return largest;
}

void CompareFloats(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance, Comparison& c) {
  const double largest = LargestOf(wanted), absolute = tolerance.absolute + tolerance.of_largest * largest;
  c.largest = std::max(c.largest, largest);
  double worst_excess = -1;
  int64_t worst = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    const double a = LoadDouble(got, i), b = LoadDouble(wanted, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double error = std::fabs(a - b), magnitude = std::fabs(b);
    const bool finite = std::isfinite(error);
    if (finite) {
      c.max_abs = std::max(c.max_abs, error);
      if (magnitude > 0) c.max_rel = std::max(c.max_rel, error / magnitude);
      if (error <= absolute + tolerance.relative * std::max(magnitude, tolerance.least_magnitude)) continue;
    }
    ++c.wrong;
    const double excess = finite ? error : HUGE_VAL;
    if (excess <= worst_excess) continue;
    worst_excess = excess;
    worst = i;
  }
  if (c.wrong)
    Note(c, got.dims(), "worst", worst, StrCat(LoadDouble(got, worst)), StrCat(LoadDouble(wanted, worst)));
}

// Views complex elements as pairs of floats: c64[3] becomes f32[3,2].
Tensor Parts(const Tensor& t) {
  Dims dims = t.dims();
  dims.push_back(2);
  return Tensor::View(t.buffer(), t.dtype() == DType::kC64 ? DType::kF32 : DType::kF64, std::move(dims));
}

template <class Same, class Show>
void CompareExactly(const Tensor& got, Comparison& c, Same same, Show show) {
  int64_t first = 0;
  for (int64_t i = got.size(); i-- > 0;)
    if (!same(i)) {
      ++c.wrong;
      first = i;
    }
  if (c.wrong) {
    const auto [a, b] = show(first);
    Note(c, got.dims(), "first", first, a, b);
  }
}

void CompareTensors(const Tensor& got_in, const Tensor& wanted_in, const Tolerance& tolerance,
                    Comparison& c) {
  if (got_in.dtype() != wanted_in.dtype() || got_in.dims() != wanted_in.dims()) {
    c.difference = StrCat("got ", got_in.Describe(), ", wanted ", wanted_in.Describe());
    return;
  }
  const Tensor got = got_in.Contiguous(), wanted = wanted_in.Contiguous();
  c.elements += got.size();
  if (IsComplex(got.dtype())) return CompareFloats(Parts(got), Parts(wanted), tolerance, c);
  if (IsFloat(got.dtype())) return CompareFloats(got, wanted, tolerance, c);
  if (got.dtype() == DType::kString) {
    const std::string *a = got.data<std::string>(), *b = wanted.data<std::string>();
    return CompareExactly(
        got, c, [&](int64_t i) { return a[i] == b[i]; },
        [&](int64_t i) { return std::pair(QuoteText(a[i]), QuoteText(b[i])); });
  }
  CompareExactly(
      got, c, [&](int64_t i) { return LoadLong(got, i) == LoadLong(wanted, i); },
      [&](int64_t i) { return std::pair(StrCat(LoadLong(got, i)), StrCat(LoadLong(wanted, i))); });
}

void CompareData(const Datum& got, const Datum& wanted, const Tolerance& tolerance, Comparison& c);

void CompareLists(const DatumList& got, const DatumList& wanted, const Tolerance& tolerance, Comparison& c) {
  if (got.size() != wanted.size())
    c.difference = StrCat("got ", got.size(), " items, wanted ", wanted.size());
  for (size_t i = 0; i < got.size() && c.difference.empty(); ++i) {
    CompareData(got[i], wanted[i], tolerance, c);
    if (!c.difference.empty()) c.difference = StrCat("item ", i, ": ", c.difference);
  }
}

void CompareData(const Datum& got, const Datum& wanted, const Tolerance& tolerance, Comparison& c) {
  if (got.kind != wanted.kind) {
    c.difference = StrCat("got ", got.Describe(), ", wanted ", wanted.Describe());
  } else if (got.is_tensor()) {
    CompareTensors(got.tensor, wanted.tensor, tolerance, c);
  } else if (got.is_sequence()) {
    CompareLists(*got.sequence, *wanted.sequence, tolerance, c);
  } else if (got.kind == Datum::Kind::kMap) {
    CompareTensors(got.map->keys, wanted.map->keys, tolerance, c);
    if (c.difference.empty()) CompareLists(got.map->values, wanted.map->values, tolerance, c);
  }
}

}  // namespace

Comparison Compare(const Datum& got, const Datum& wanted, const Tolerance& tolerance) {
  Comparison c;
  CompareData(got, wanted, tolerance, c);
  return c;
}

}  // namespace tern::data
