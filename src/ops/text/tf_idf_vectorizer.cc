// TfIdfVectorizer: counts how often given n-grams occur in rows of strings or integers. An occurrence may
// have gaps.
#include <algorithm>
#include <map>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

enum class Mode { kTf, kIdf, kTfIdf };

struct TfIdfVectorizer {
  Mode mode = Mode::kTf;
  int64_t min_length = 1, max_length = 1, max_skip = 0;
  std::vector<int64_t> starts, places, pool_ints;
  std::vector<std::string> pool_texts;
  std::vector<float> weights;
  template <class V> void Visit(V& v) {
    v.Enum("mode", mode, {"tf", "idf", "tfidf"},
           "tf: the count of each n-gram; idf: its weight if it occurs, else 0; tfidf: their product");
    v("min_length", min_length, "minimum length of counted n-grams");
    v("max_length", max_length, "maximum length of counted n-grams");
    v("max_skip", max_skip,
      "maximum number of items that are skipped between two neighbouring items of an n-gram");
    v("starts", starts, "the offset in the pool of the first n-gram of length 1, of length 2, …");
    v("places", places, "the column of each n-gram");
    v("pool_ints", pool_ints, "the n-grams of integers, concatenated");
    v("pool_texts", pool_texts, "the n-grams of strings, concatenated");
    v("weights", weights, "the weight of each n-gram; empty means 1 for all");
  }
  size_t pool_size() const { return pool_texts.empty() ? pool_ints.size() : pool_texts.size(); }
};

constexpr int64_t kMaxColumns = int64_t{1} << 24;

Status Check(const TfIdfVectorizer& op) {
  if (op.min_length < 1 || op.max_length < op.min_length || op.max_skip < 0)
    return InvalidModel("cannot count n-grams of ", op.min_length, " to ", op.max_length,
                        " items with gaps up to ", op.max_skip);
  if (!op.pool_ints.empty() && !op.pool_texts.empty())
    return InvalidModel("the pool has both integers and strings");
  if (op.places.empty()) return InvalidModel("places is empty");
  if (op.max_length > static_cast<int64_t>(op.starts.size()))
    return InvalidModel("n-grams have up to ", op.max_length, " items, but starts has only ",
                        op.starts.size(), " entries");
  int64_t grams = 0;
  for (size_t n = 0; n < op.starts.size(); ++n) {
    const int64_t end = n + 1 < op.starts.size() ? op.starts[n + 1] : static_cast<int64_t>(op.pool_size());
    if (op.starts[n] < 0 || op.starts[n] > end || end > static_cast<int64_t>(op.pool_size()))
      return InvalidModel("starts [", Join(op.starts, ","), "] must be ascending offsets in a pool of ",
                          op.pool_size(), " items");
    if ((end - op.starts[n]) % static_cast<int64_t>(n + 1))
      return InvalidModel(end - op.starts[n], " items cannot be divided into ", n + 1, "-grams");
    grams += (end - op.starts[n]) / static_cast<int64_t>(n + 1);
  }
  if (grams != static_cast<int64_t>(op.places.size()))
    return InvalidModel(op.places.size(), " places for ", grams, " n-grams");
  if (!op.weights.empty() && op.weights.size() != op.places.size())
    return InvalidModel(op.weights.size(), " weights for ", op.places.size(), " n-grams");
  for (int64_t p : op.places)
    if (p < 0 || p >= kMaxColumns) return InvalidModel("places: ", p, " is outside 0…", kMaxColumns - 1);
  return {};
}

int64_t Columns(const TfIdfVectorizer& op) {
  return *std::max_element(op.places.begin(), op.places.end()) + 1;
}

Status Infer(const TfIdfVectorizer& op, InferContext& c) {
  TERN_TRY(Check(op));
  Shape y = c.ShapeOf("x");
  if (y.ranked && (y.rank() < 1 || y.rank() > 2))
    return InvalidModel("x must be [items] or [rows, items], got ", c.In("x").ToString());
  if (y.ranked) y.dims.back() = Columns(op);
  const DType x = c.TypeOf("x");
  if (x != DType::kInvalid && (x == DType::kString) != op.pool_ints.empty() && op.pool_size())
    return InvalidModel("x is ", DTypeName(x), ", but the pool has ",
                        op.pool_ints.empty() ? "strings" : "integers");
  c.Out("y", DType::kF32, std::move(y));
  return {};
}

// Assigns a number to each distinct item of the pool. An n-gram is a vector of these numbers. The number of
// an item that is in no n-gram is -1.
struct Vocabulary {
  std::map<int64_t, int64_t> ints;
  std::map<std::string, int64_t> texts;
  std::map<std::vector<int64_t>, size_t> grams;

  explicit Vocabulary(const TfIdfVectorizer& op) {
    std::vector<int64_t> numbers;
    for (int64_t v : op.pool_ints)
      numbers.push_back(ints.emplace(v, static_cast<int64_t>(ints.size())).first->second);
    for (const auto& v : op.pool_texts)
      numbers.push_back(texts.emplace(v, static_cast<int64_t>(texts.size())).first->second);
    size_t gram = 0;
    for (size_t n = 0; n < op.starts.size(); ++n) {
      const auto length = static_cast<int64_t>(n + 1);
      const int64_t end = n + 1 < op.starts.size() ? op.starts[n + 1] : static_cast<int64_t>(numbers.size());
      for (int64_t at = op.starts[n]; at < end; at += length)
        grams.emplace(std::vector<int64_t>(numbers.begin() + at, numbers.begin() + at + length), gram++);
    }
  }

  int64_t NumberOf(const Tensor& x, int64_t i) const {
    if (x.dtype() == DType::kString) {
      auto it = texts.find(x.data<std::string>()[i]);
      return it == texts.end() ? -1 : it->second;
    }
    auto it = ints.find(LoadLong(x, i));
    return it == ints.end() ? -1 : it->second;
  }
};

void CountRow(const TfIdfVectorizer& op, const Vocabulary& vocabulary, const std::vector<int64_t>& row,
              std::vector<double>& counts) {
  const auto items = static_cast<int64_t>(row.size());
  for (int64_t n = op.min_length; n <= std::min(op.max_length, items); ++n)
    for (int64_t gap = 1; gap <= (n == 1 ? 1 : op.max_skip + 1); ++gap) {
      if (n > 1 && gap > (items - 1) / (n - 1)) break;
      std::vector<int64_t> gram(static_cast<size_t>(n));
      for (int64_t start = 0; start + (n - 1) * gap < items; ++start) {
        for (int64_t i = 0; i < n; ++i)
          gram[static_cast<size_t>(i)] = row[static_cast<size_t>(start + i * gap)];
        if (auto it = vocabulary.grams.find(gram); it != vocabulary.grams.end()) counts[it->second] += 1;
      }
    }
}

double ScoreOf(const TfIdfVectorizer& op, size_t gram, double count) {
  const double weight = op.weights.empty() ? 1 : op.weights[gram];
  if (op.mode == Mode::kTf) return count;
  return op.mode == Mode::kIdf ? (count > 0 ? weight : 0) : count * weight;
}

Status Reference(const TfIdfVectorizer& op, EvalContext& c) {
  TERN_TRY(Check(op));
  const Tensor& x = c.In("x");
  if (x.rank() < 1 || x.rank() > 2)
    return InvalidArgument("x must be [items] or [rows, items], got ", x.Describe());
  const Vocabulary vocabulary(op);
  const int64_t rows = x.rank() == 1 ? 1 : x.dim(0), items = x.dim(-1), columns = Columns(op);
  Tensor& y = c.Out("y", x.rank() == 1 ? Dims{columns} : Dims{rows, columns});
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<int64_t> row;
    for (int64_t i = 0; i < items; ++i) row.push_back(vocabulary.NumberOf(x, r * items + i));
    std::vector<double> counts(op.places.size(), 0);
    CountRow(op, vocabulary, row, counts);
    for (size_t g = 0; g < counts.size(); ++g)
      if (counts[g] > 0)
        y.data<float>()[r * columns + op.places[g]] = static_cast<float>(ScoreOf(op, g, counts[g]));
  }
  return {};
}

}  // namespace

TERN_OP(TfIdfVectorizer) {
  return OpDef::Of<TfIdfVectorizer>("how often each n-gram of a pool occurs in each row of x, weighted")
      .In("x", kIndices | kStrings)
      .Out("y", SetOf(DType::kF32))
      .Flops(No{"a search has no arithmetic"})
      .Batch(kNoKernel)
      .Axes(No{"the items of a text must be in the last axis"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
