// Tests that Attention appends keys and values to a state in place. The results must equal those of the
// reference evaluator.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/bind/node_query.h"

namespace tern {
namespace {

struct Case {
  int64_t batch, heads, kv_heads, fresh, size, value_size;
  const char* attrs = "";
  const char* mask = "";  // type of the mask, where K is the number of all keys; empty if there is no mask
  bool stacked = false;   // keys and values are one stacked tensor
  bool packed = false;    // q, k and v are [batch, length, heads*size]
};

const Case kCases[] = {
    {1, 12, 12, 1, 64, 64},  // one token of GPT-2
    {1, 12, 12, 1, 64, 64, "merged=true", "f32[1,1,1,K]", false, true},
    {2, 3, 3, 1, 20, 33, "", "bool[2,1,1,K]"},
    {1, 8, 2, 1, 16, 16, "causal=true"},  // grouped heads
    {2, 4, 2, 3, 26, 9, "causal=true, softcap=3", "f32[2,1,3,K]"},
    {1, 4, 4, 7, 32, 32, "causal=true, merged=true", "", false, true},
    {1, 2, 1, 40, 16, 24, "causal=true", "bool[1,1,40,K]"},  // a prompt
    {2, 4, 4, 5, 16, 16, "causal=true, stacked=true", "", true},
    {1, 2, 2, 1, 8, 8, "stacked=true", "f32[1,2,1,K]", true},
    {1, 6, 3, 70, 12, 12, "causal=true, guarded=true"},
};
constexpr int64_t kPasts[] = {0, 1, 2, 5, 31, 64, 127};

std::string WithKeys(std::string text, int64_t keys) {
  if (const size_t at = text.find('K'); at != text.npos) text.replace(at, 1, std::to_string(keys));
  return text;
}

std::string TextOf(const Case& c, int64_t past) {
  const auto operand = [&](const char* name, int64_t heads, int64_t size) {
    return c.packed ? StrCat(name, ": f32[", c.batch, ",", c.fresh, ",", heads * size, "]")
                    : StrCat(name, ": f32[", c.batch, ",", heads, ",", c.fresh, ",", size, "]");
  };
  const auto state = [&](const char* name, int64_t size) {
    return StrCat(name, ": f32[", c.stacked ? "2," : "", c.batch, ",", c.kv_heads, ",", past, ",", size, "]");
  };
  const std::string mask = WithKeys(c.mask, past + c.fresh);
  std::string attrs = c.attrs;
  if (c.packed) attrs += StrCat(attrs.empty() ? "" : ", ", "q_heads=", c.heads, ", kv_heads=", c.kv_heads);
  return StrCat("graph @g(", operand("%q", c.heads, c.size), ", ", operand("%k", c.kv_heads, c.size), ", ",
                operand("%v", c.kv_heads, c.value_size), ", ", mask.empty() ? "" : "%m: " + mask + ", ",
                state("%pk", c.size), c.stacked ? "" : ", " + state("%pv", c.value_size), ") -> (%y, %nk",
                c.stacked ? "" : ", %nv", ") {\n  %y, %nk", c.stacked ? "" : ", %nv",
                " = Attention(%q, %k, %v, ", mask.empty() ? "_" : "%m", ", %pk",
                c.stacked ? ", %pk" : ", %pv", ") {", attrs, "}\n}");
}

// A state [rows, length, size] in memory of [rows, capacity, size]. The spare capacity contains NaN.
class Cache {
 public:
  Cache(const Tensor& past, int64_t capacity) : capacity_(capacity), size_(past.dim(-1)) {
    rows_ = 1;
    for (int64_t i = 0; i + 2 < past.rank(); ++i) rows_ *= past.dim(i);
    data_.assign(static_cast<size_t>(rows_ * capacity * size_), std::numeric_limits<float>::quiet_NaN());
    const int64_t length = past.dim(-2);
    for (int64_t r = 0; r < rows_; ++r)
      std::copy_n(past.data<const float>() + r * length * size_, length * size_,
                  data_.data() + r * capacity * size_);
  }
  Datum View(const Dims& dims) {
    return Tensor::View(Buffer::Borrow(data_.data(), data_.size() * sizeof(float), nullptr), DType::kF32,
                        dims);
  }
  // Expects that the memory contains the elements of `present`, and NaN behind them.
  void ExpectHolds(const Tensor& present) const {
    const int64_t length = present.dim(-2);
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t i = 0; i < capacity_ * size_; ++i) {
        const float got = data_[static_cast<size_t>(r * capacity_ * size_ + i)];
        if (i >= length * size_) {
          ASSERT_TRUE(std::isnan(got)) << "row " << r << " is written beyond its end";
        } else {
          ASSERT_EQ(got, present.data<const float>()[r * length * size_ + i]) << "row " << r << ", " << i;
        }
      }
  }

 private:
  int64_t capacity_, size_, rows_;
  std::vector<float> data_;
};

void ExpectNear(const Tensor& got, const Tensor& want, double tolerance) {
  for (int64_t i = 0; i < want.size(); ++i) {
    const double a = LoadDouble(got, i), b = LoadDouble(want, i);
    if (std::isnan(a) && std::isnan(b)) continue;
    ASSERT_NEAR(a, b, tolerance) << "element " << i;
  }
}

// Runs the kernel on a state of this capacity and compares the outputs with `want`. Callers pass the same
// kernel object for all lengths, as a plan does.
void RunInPlace(Kernel& kernel, const Graph& graph, const DatumList& feeds, const DatumList& want,
                int64_t capacity, int threads, double tolerance) {
  const KernelQuery query = QueryOf(graph);
  ResizeContext resize(query, threads, {false, 0, capacity});
  const Status resized = kernel.Resize(resize);
  ASSERT_TRUE(resized.ok()) << resized.ToString();
  std::vector<std::byte> scratch(resize.scratch() + 64, std::byte{0xff});
  const Workers workers(threads);
  RunContext run;
  run.pool = &workers;
  run.scratch_memory = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  std::vector<Cache> caches;
  DatumList inputs, outputs{Tensor(DType::kF32, query.OutDims(0))};
  const Node& node = *graph.nodes().back();
  for (int i = 0; i < query.InputCount(); ++i) {
    const Value* v = node.input(i);
    const auto at = std::find(graph.inputs().begin(), graph.inputs().end(), v) - graph.inputs().begin();
    inputs.push_back(v ? feeds[static_cast<size_t>(at)] : Datum());
    if (i < 4 || !v) continue;
    if (i == 4 || v != node.input(4)) {  // input 5 may be the same tensor as input 4
      caches.emplace_back(inputs.back().tensor, capacity);
      outputs.push_back(caches.back().View(query.OutDims(i - 3)));
    }
    inputs.back() = caches.back().View(query.InDims(i));
  }
  for (int i = 0; i < query.InputCount(); ++i)
    run.inputs.push_back(query.Has(i) ? &inputs[static_cast<size_t>(i)] : nullptr);
  for (Datum& out : outputs) run.outputs.push_back(&out);
  const Status ran = kernel.Run(run);
  ASSERT_TRUE(ran.ok()) << ran.ToString();
  ExpectNear(outputs[0].tensor, want[0].tensor, tolerance);
  for (size_t i = 0; i < caches.size(); ++i) caches[i].ExpectHolds(want[i + 1].tensor);
}

DatumList FeedsOf(const Graph& graph) {
  DatumList feeds;
  uint32_t seed = 1;
  for (const Value* v : graph.inputs()) {
    Tensor x = Noise(v->type.shape.Concrete(), seed++);
    if (v->type.dtype == DType::kBool) {
      Tensor shown(DType::kBool, x.dims());
      for (int64_t i = 0; i < x.size(); ++i) StoreLong(shown, i, i % 7 == 0 || LoadDouble(x, i) > -0.5);
      x = shown;
    }
    feeds.push_back(x);
  }
  return feeds;
}

class StateInPlace : public cpu::EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, StateInPlace, testing::ValuesIn(cpu::LevelsAndBf16Here()));

TEST_P(StateInPlace, AttentionAppendsToKeysAndValues) {
  int kernels = 0;
  for (const Case& c : kCases) {
    for (const KernelEntry* entry : CpuKernels().Of("Attention")) {
      if (!entry->can.state_in_place) continue;
      auto kernel = entry->make();
      const double tolerance = entry->name.find("bf16") == entry->name.npos ? 2e-5 : 3e-2;
      for (int64_t past : kPasts) {
        const std::string text = TextOf(c, past);
        const auto graph = ParseNode(text);
        ASSERT_TRUE(graph);
        KernelQuery query = QueryOf(*graph);
        query.bf16 = true;
        ASSERT_TRUE(entry->legal(query)) << entry->name << ": " << text;
        for (int pair = 0; pair < (c.stacked ? 1 : 2); ++pair)
          ASSERT_TRUE(entry->can.state_in_place(query, 4 + pair, 1 + pair)) << text;
        ASSERT_FALSE(entry->can.state_in_place(query, 4, 2)) << "keys are not values";
        const DatumList feeds = FeedsOf(*graph);
        const auto want = EvaluateGraph(*graph, feeds);
        ASSERT_TRUE(want.ok()) << want.status().ToString();
        for (int threads : {1, 2, 3})
          for (int64_t spare : {0, 1, 100}) {
            SCOPED_TRACE(StrCat(entry->name, ", ", threads, " threads, spare capacity ", spare, ": ", text));
            RunInPlace(*kernel, *graph, feeds, *want, past + c.fresh + spare, threads, tolerance);
            if (testing::Test::HasFatalFailure()) return;
          }
      }
      ++kernels;
    }
  }
  EXPECT_EQ(kernels, 2 * static_cast<int>(std::size(kCases)));
}

TEST(StateInPlaceRefuses, MoreThanItsCapacity) {
  const auto graph = ParseNode(TextOf(kCases[0], 7));
  const KernelQuery query = QueryOf(*graph);
  const KernelEntry* entry = CpuKernels().Select(query);
  ASSERT_TRUE(entry && entry->can.state_in_place);
  auto kernel = entry->make();
  ResizeContext resize(query, 1, {false, 0, 7});
  EXPECT_EQ(kernel->Resize(resize).message(), "8 keys exceed the capacity of the state, 7");
}

}  // namespace
}  // namespace tern
