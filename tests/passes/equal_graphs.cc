#include "equal_graphs.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "ir/evaluate.h"

namespace tern {
namespace {

constexpr int64_t kDefaultSize = 3;

Dims DimsOf(const Shape& shape, const std::map<std::string, int64_t>& symbols) {
  Dims dims;
  for (const Dim& d : shape.dims) {
    SymbolValues all = symbols;
    std::vector<std::string> names;
    d.CollectSymbols(names);
    for (const auto& name : names) all.emplace(name, kDefaultSize);
    dims.push_back(d.unknown() ? kDefaultSize : d.Evaluate(all).value_or(kDefaultSize));
  }
  return dims;
}

double Tolerance(DType dtype) {
  return dtype == DType::kF16 ? 4e-3 : dtype == DType::kBF16 ? 3e-2 : dtype == DType::kF64 ? 1e-9 : 1e-5;
}

std::string CompareTensors(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims())
    return StrCat("is ", b.Describe(), ", was ", a.Describe());
  if (a.dtype() == DType::kString) return ToStrings(a) == ToStrings(b) ? "" : "has different strings";
  const auto x = ToDoubles(a), y = ToDoubles(b);
  double largest = 1;
  for (double v : x)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  const double slack = IsFloat(a.dtype()) ? Tolerance(a.dtype()) * largest : 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool same =
        x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) || std::abs(x[i] - y[i]) <= slack;
    if (!same) return StrCat("element ", i, " is ", y[i], ", was ", x[i]);
  }
  return "";
}

std::string CompareData(const Datum& a, const Datum& b) {
  if (a.kind != b.kind) return "has a different kind (tensor, sequence, optional or map)";
  if (a.is_tensor()) return CompareTensors(a.tensor, b.tensor);
  if (!a.is_sequence()) return "";
  if (a.sequence->size() != b.sequence->size()) return "is a sequence of a different length";
  for (size_t i = 0; i < a.sequence->size(); ++i)
    if (auto error = CompareData((*a.sequence)[i], (*b.sequence)[i]); !error.empty()) return error;
  return "";
}

}  // namespace

DatumList RandomInputs(const Graph& graph, const std::map<std::string, int64_t>& symbols, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> real(-2, 2);
  std::uniform_int_distribution<int64_t> integer(0, 2);
  DatumList inputs;
  for (const Value* v : graph.inputs()) {
    const DType dtype = v->type.dtype;
    Tensor t(dtype, DimsOf(v->type.shape, symbols));
    for (int64_t i = 0; i < t.size(); ++i) {
      if (IsFloat(dtype))
        StoreDouble(t, i, real(generator));
      else
        StoreLong(t, i, dtype == DType::kBool ? integer(generator) % 2 : integer(generator));
    }
    inputs.push_back(Datum(t));
  }
  return inputs;
}

std::string CompareGraphs(const Graph& before, const Graph& after,
                          const std::map<std::string, int64_t>& symbols, unsigned seed) {
  const DatumList inputs = RandomInputs(before, symbols, seed);
  auto a = EvaluateGraph(before, inputs), b = EvaluateGraph(after, inputs);
  if (!a.ok()) return StrCat("the graph before does not run: ", a.status().ToString());
  if (!b.ok()) return StrCat("the graph after does not run: ", b.status().ToString());
  for (size_t i = 0; i < a->size(); ++i) {
    const std::string &name = before.outputs()[i]->name, &now = after.outputs()[i]->name;
    if (name != now) return StrCat("output ", i, " is called '", now, "', was '", name, "'");
    if (auto error = CompareData((*a)[i], (*b)[i]); !error.empty())
      return StrCat("output '", name, "' ", error);
  }
  return "";
}

}  // namespace tern
