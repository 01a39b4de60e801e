// Changes the batch of random graphs from 1 to 3. Either SetBatch fails, or a run with 3 items has the
// same results as 3 runs with one item. The same holds for CheckIndependentItems and graphs with an open
// batch.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "passes/batch/independent_items.h"
#include "passes/batch/set_batch.h"

namespace tern {
namespace {

constexpr int kItems = 3;

int64_t SizeOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Writes a chain of random nodes in the text form, and tracks the dims of the last value.
class RandomChain {
 public:
  explicit RandomChain(unsigned seed) : random_(seed) {
    dims_ = {1, Pick(1, 3), Pick(2, 4), Pick(1, 3)};
    dims_.resize(static_cast<size_t>(Pick(2, 4)));
    head_ = StrCat("graph @g(%v0: f32", Text(dims_), ") -> (%y) {\n");
  }

  std::string Build(int nodes) {
    for (int i = 0; i < nodes; ++i) AddNode();
    return StrCat(head_, constants_, body_, "  %y = Identity(%v", last_, ")\n}");
  }

 private:
  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t Axis() { return Pick(0, rank() - 1); }
  std::string Value() const { return StrCat("%v", last_); }

  static std::string Text(const Dims& dims) {
    std::string out;
    for (const int64_t d : dims) out += StrCat(out.empty() ? "" : ",", d);
    return StrCat("[", out, "]");
  }
  std::string Ints(const std::vector<int64_t>& list) {
    std::string out;
    for (const int64_t v : list) out += StrCat(out.empty() ? "" : ", ", v);
    constants_ += StrCat("  #c", ++constant_, ": i64[", list.size(), "] = (", out, ")\n");
    return StrCat("#c", constant_);
  }
  std::string Floats(const Dims& dims) {
    std::string out;
    for (int64_t i = 0; i < SizeOf(dims); ++i)
      out += StrCat(out.empty() ? "" : ", ", static_cast<double>(Pick(-8, 8)) / 4);
    constants_ += StrCat("  #c", ++constant_, ": f32", Text(dims), " = (", out, ")\n");
    return StrCat("#c", constant_);
  }
  void Emit(const std::string& node, const Dims& dims) {
    body_ += StrCat("  %v", last_ + 1, " = ", node, "\n");
    ++last_;
    dims_ = dims;
  }

  void AddNode() {
    static constexpr void (RandomChain::*kNodes[])() = {
        &RandomChain::Unary,   &RandomChain::Sum,       &RandomChain::AlongAxis, &RandomChain::Norm,
        &RandomChain::Reduce,  &RandomChain::Transpose, &RandomChain::Reshape,   &RandomChain::Reshape,
        &RandomChain::Product, &RandomChain::Gram,      &RandomChain::Concat,    &RandomChain::Slice,
        &RandomChain::Pad,     &RandomChain::Gather,    &RandomChain::Squeeze,   &RandomChain::Unsqueeze,
        &RandomChain::Tile,    &RandomChain::Cumulate,  &RandomChain::ArgMax,    &RandomChain::SizeAsData,
        &RandomChain::Einsum,  &RandomChain::Transpose, &RandomChain::Reshape,   &RandomChain::Split};
    (this->*kNodes[Pick(0, std::size(kNodes) - 1)])();
  }

  void Unary() { Emit(StrCat("Tanh(", Value(), ")"), dims_); }
  void Sum() {
    Dims other = dims_;
    for (int64_t& d : other)
      if (Pick(0, 1)) d = 1;
    other.erase(other.begin(), other.begin() + Pick(0, rank()));
    Emit(StrCat("Binary(", Value(), ", ", Floats(other), ") {kind=\"add\"}"), dims_);
  }
  void AlongAxis() { Emit(StrCat("Softmax(", Value(), ") {axis=", Axis(), "}"), dims_); }
  void Norm() {
    if (rank() > 0) Emit(StrCat("LayerNorm(", Value(), ") {axis=", Axis(), "}"), dims_);
  }
  void Reduce() {
    const int64_t axis = Axis();
    const bool keep = Pick(0, 1) || rank() == 1;
    Dims out = dims_;
    out[static_cast<size_t>(axis)] = 1;
    if (!keep) out.erase(out.begin() + axis);
    const std::string axes = Ints({Pick(0, 1) ? axis : axis - rank()});
    Emit(StrCat("ReduceMean(", Value(), ", ", axes, ") {keep_dims=", keep ? "true" : "false", "}"), out);
  }
  void Transpose() {
    std::vector<int64_t> perm(dims_.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_);
    Dims out;
    for (const int64_t p : perm) out.push_back(dims_[static_cast<size_t>(p)]);
    Emit(StrCat("Transpose(", Value(), ") {perm=", Text(perm), "}"), out);
  }
  // Splits the elements into random dims.
  void Reshape() {
    Dims out;
    int64_t left = SizeOf(dims_);
    const int64_t count = Pick(1, 3);
    for (int64_t i = 0; i < count; ++i) {
      int64_t d = Pick(1, 6);
      while (left % d) --d;
      out.push_back(d);
      left /= d;
    }
    out.insert(out.begin() + Pick(0, count), left);
    std::vector<int64_t> target = out;
    if (!Pick(0, 2)) target[static_cast<size_t>(Pick(0, count))] = -1;
    Emit(StrCat("Reshape(", Value(), ", ", Ints(target), ")"), out);
  }
  void Product() {
    if (rank() < 2) return;
    Dims out = dims_;
    out.back() = Pick(1, 3);
    const std::string w = Floats({dims_.back(), out.back()});
    Emit(StrCat("MatMul(", Value(), ", ", w, ")"), out);
  }
  void Gram() {  // x · xᵀ
    if (rank() < 2 || dims_[dims_.size() - 2] > 6) return;
    Dims out = dims_;
    out.back() = out[out.size() - 2];
    Emit(StrCat("MatMul(", Value(), ", ", Value(), ") {transpose_b=true}"), out);
  }
  void Concat() {
    const int64_t axis = Axis();
    if (SizeOf(dims_) > 200) return;
    Dims out = dims_;
    out[static_cast<size_t>(axis)] *= 2;
    const std::string other = Pick(0, 1) ? Value() : Floats(dims_);
    Emit(StrCat("Concat(", Value(), ", ", other, ") {axis=", axis, "}"), out);
  }
  void Slice() {
    const int64_t axis = Axis(), size = dims_[static_cast<size_t>(axis)];
    const int64_t start = Pick(0, size - 1), end = Pick(0, 1) ? size : INT64_MAX;
    Dims out = dims_;
    out[static_cast<size_t>(axis)] = size - start;
    const std::string from = Ints({start}), to = Ints({end}), axes = Ints({axis});
    Emit(StrCat("Slice(", Value(), ", ", from, ", ", to, ", ", axes, ")"), out);
  }
  void Pad() {
    const int64_t axis = Axis();
    std::vector<int64_t> pads(dims_.size() * 2, 0);
    pads[static_cast<size_t>(axis)] = 1;
    Dims out = dims_;
    ++out[static_cast<size_t>(axis)];
    Emit(StrCat("Pad(", Value(), ", ", Ints(pads), ")"), out);
  }
  void Gather() {
    const int64_t axis = Axis(), last = dims_[static_cast<size_t>(axis)] - 1;
    Dims out = dims_;
    out[static_cast<size_t>(axis)] = 2;
    Emit(StrCat("Gather(", Value(), ", ", Ints({0, last}), ") {axis=", axis, "}"), out);
  }
  void Squeeze() {
    const int64_t axis = Axis();
    if (dims_[static_cast<size_t>(axis)] != 1 || rank() < 2) return;
    Dims out = dims_;
    out.erase(out.begin() + axis);
    Emit(StrCat("Squeeze(", Value(), ", ", Ints({axis}), ")"), out);
  }
  void Unsqueeze() {
    if (rank() > 4) return;
    const int64_t axis = Pick(0, rank());
    Dims out = dims_;
    out.insert(out.begin() + axis, 1);
    Emit(StrCat("Unsqueeze(", Value(), ", ", Ints({axis}), ")"), out);
  }
  void Tile() {
    const int64_t axis = Axis();
    if (SizeOf(dims_) > 200) return;
    std::vector<int64_t> repeats(dims_.size(), 1);
    repeats[static_cast<size_t>(axis)] = 2;
    Dims out = dims_;
    out[static_cast<size_t>(axis)] *= 2;
    Emit(StrCat("Tile(", Value(), ", ", Ints(repeats), ")"), out);
  }
  void Cumulate() { Emit(StrCat("CumSum(", Value(), ", ", Ints({Axis()}), ")"), dims_); }
  void ArgMax() {
    const int64_t axis = Axis();
    Dims out = dims_;
    out[static_cast<size_t>(axis)] = 1;
    Emit(StrCat("Cast(ArgMax(", Value(), ") {axis=", axis, "}) {to=f32}"), out);
  }
  void SizeAsData() {
    if (Pick(0, 3)) return;
    Emit(StrCat("Binary(", Value(), ", Cast(Size(", Value(), ")) {to=f32}) {kind=\"div\"}"), dims_);
  }
  void Einsum() {
    if (rank() != 2) return;
    const bool outer = Pick(0, 1);
    const Dims out = outer ? Dims{dims_[0], dims_[0]} : Dims{dims_[1], dims_[0]};
    Emit(outer ? StrCat("Einsum(", Value(), ", ", Value(), ") {equation=\"ij,kj->ik\"}")
               : StrCat("Einsum(", Value(), ", ", Floats({dims_[1]}), ") {equation=\"ij,j->ji\"}"),
         out);
  }
  void Split() {
    const int64_t axis = Axis();
    Dims out = dims_;
    if (out[static_cast<size_t>(axis)] % 2) return;
    out[static_cast<size_t>(axis)] /= 2;
    body_ += StrCat("  %v", last_ + 1, ", %s", last_, " = Split(", Value(), ") {axis=", axis,
                    ", num_outputs=2}\n");
    ++last_;
    dims_ = out;
  }

  std::mt19937 random_;
  Dims dims_;
  std::string head_, constants_, body_;
  int last_ = 0, constant_ = 0;
};

std::unique_ptr<Graph> ParseItems(const std::string& text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString() << "\n" << text;
  return graph.ok() ? std::move(*graph) : nullptr;
}

Tensor RunItems(const Graph& graph, const Tensor& x) {
  auto y = EvaluateGraph(graph, {Datum(x)});
  EXPECT_TRUE(y.ok()) << y.status().ToString();
  return y.ok() ? (*y)[0].tensor : Tensor();
}

// True if item `item` of `all` equals `one`. The batch is a factor of dim `axis`, and `outside` is the
// product of the factors of that dim that are outer to the batch.
bool IsItem(const Tensor& all, const Tensor& one, size_t axis, int64_t outside, int item) {
  const Dims& dims = one.dims();
  const int64_t outer = SizeOf(Dims(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(axis))) * outside;
  const int64_t inner = one.size() / outer;
  for (int64_t i = 0; i < one.size(); ++i) {
    const double a = LoadDouble(all, (i / inner * kItems + item) * inner + i % inner), b = LoadDouble(one, i);
    if (std::abs(a - b) > 1e-5 * (1 + std::abs(b))) return false;
  }
  return true;
}

bool AreItems(const Tensor& all, const std::vector<Tensor>& ones) {
  const Dims &one = ones[0].dims(), &dims = all.dims();
  if (one.size() != dims.size() || all.size() != ones[0].size() * kItems) return false;
  const size_t axis =
      static_cast<size_t>(std::mismatch(one.begin(), one.end(), dims.begin()).first - one.begin());
  for (int64_t outside = 1; outside <= one[axis]; ++outside) {
    if (one[axis] % outside) continue;
    bool same = true;
    for (int i = 0; i < kItems; ++i)
      same = same && IsItem(all, ones[static_cast<size_t>(i)], axis, outside, i);
    if (same) return true;
  }
  return false;
}

// Runs `one` with each of kItems random items, and `all` with all of them. Expects the same results.
void ExpectSameItems(const Graph& one, const Graph& all, Dims dims, unsigned seed, const std::string& text) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> values(-2, 2);
  dims[0] = kItems;
  Tensor x(DType::kF32, dims);
  for (int64_t i = 0; i < x.size(); ++i) StoreDouble(x, i, values(random));
  dims[0] = 1;
  const int64_t size = SizeOf(dims);
  std::vector<Tensor> ones;
  for (int64_t item = 0; item < kItems; ++item) {
    Tensor part(DType::kF32, dims);
    for (int64_t i = 0; i < size; ++i) StoreDouble(part, i, LoadDouble(x, item * size + i));
    ones.push_back(RunItems(one, part));
  }
  EXPECT_TRUE(AreItems(RunItems(all, x), ones)) << "seed " << seed << "\n" << text << "\n" << PrintGraph(all);
}

std::string ChainOf(unsigned seed) { return RandomChain(seed).Build(static_cast<int>(1 + seed % 8)); }

// Returns true if SetBatch accepts the graph. In this case also checks the results of the items.
bool Try(unsigned seed) {
  const std::string text = ChainOf(seed);
  const auto one = ParseItems(text), three = ParseItems(text);
  if (!one || !three) return false;
  const Status status = SetBatch(*three, kItems);
  if (!status.ok()) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString() << "\n" << text;
    EXPECT_NE(status.message().find("in place of 1: "), std::string::npos) << status.ToString();
    return false;
  }
  ExpectSameItems(*one, *three, one->inputs()[0]->type.shape.Concrete(), seed, text);
  return true;
}

// The same for CheckIndependentItems. Constants that fit a batch of 1 only make some graphs invalid.
bool TryOpen(unsigned seed) {
  std::string text = ChainOf(seed);
  text.replace(text.find("[1,"), 3, "[N,");
  const auto graph = ParseGraph(text);
  if (!graph.ok() || !CheckIndependentItems(**graph).ok()) return false;
  std::vector<Dim> dims = (*graph)->inputs()[0]->type.shape.dims;
  dims[0] = 1;
  ExpectSameItems(**graph, **graph, Shape(dims).Concrete(), seed, text);
  return true;
}

TEST(RandomItems, AreIndependentOrRefused) {
  InitOps();
  constexpr unsigned kGraphs = 4000;
  unsigned accepted = 0;
  for (unsigned seed = 0; seed < kGraphs && !HasFailure(); ++seed) accepted += Try(seed);
  RecordProperty("accepted", static_cast<int>(accepted));
  EXPECT_GT(accepted, kGraphs / 5);
  EXPECT_LT(accepted, kGraphs * 4 / 5);
}

TEST(RandomItems, AreIndependentOrNotBatched) {
  InitOps();
  constexpr unsigned kGraphs = 8000;
  unsigned accepted = 0;
  for (unsigned seed = 0; seed < kGraphs && !HasFailure(); ++seed) accepted += TryOpen(seed);
  RecordProperty("accepted", static_cast<int>(accepted));
  EXPECT_GT(accepted, kGraphs / 20);
}

}  // namespace
}  // namespace tern
