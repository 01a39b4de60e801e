#include "runtime/cost/cost_model.h"

#include <map>
#include <set>

#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(CostModel, EveryAlgorithmHasRatesForEveryInstructionSet) {
  std::map<std::string, std::multiset<std::string>> sets;
  for (const auto& [algorithm, isa] : RatedAlgorithms()) sets[algorithm].insert(isa);
  EXPECT_GT(sets.size(), 10u);
  for (const auto& [algorithm, isas] : sets)
    EXPECT_EQ(isas, (std::multiset<std::string>{"avx2", "avx512", "base", "neon"})) << algorithm;
}

TEST(CostModel, MoreWorkTakesLonger) {
  for (const auto& [algorithm, isa] : RatedAlgorithms()) {
    Work none, much;
    none.algorithm = much.algorithm = algorithm.c_str();
    much.products = much.weights = much.moved = much.transformed = 1e9;
    EXPECT_GE(CpuRates().Microseconds(none), 0) << algorithm;
    EXPECT_GT(CpuRates().Microseconds(much), 1000 + CpuRates().Microseconds(none)) << algorithm;
  }
}

TEST(CostModel, EstimatesOfOneNodeHaveOneUnit) {
  InitOps();
  const OpDef& op = *FindOp("Identity");
  KernelQuery query(op, op.defaults);
  query.inputs = query.outputs = {{DType::kF32, {1000, 1000}}};
  const KernelTable table(CpuRates());
  KernelEntry plain, twice, given;
  plain.table = twice.table = given.table = &table;
  twice.cost = 2;
  given.can.cost_of = [](const KernelQuery&) { return 5.0; };
  KernelEntry counted;
  counted.table = &table;
  counted.can.work_of = [](const KernelQuery&) {
    Work w;
    w.moved = 8e6;
    return std::vector<Work>{w};
  };
  EXPECT_EQ(EstimatedMicroseconds(twice, query), 2 * EstimatedMicroseconds(plain, query));
  EXPECT_EQ(EstimatedMicroseconds(given, query), 5);
  EXPECT_EQ(EstimatedMicroseconds(counted, query), EstimatedMicroseconds(plain, query)) << "8 MB moved";
}

TEST(CostModel, RefusesAlgorithmsWithoutRates) {
  Work work;
  work.algorithm = "guess";
  EXPECT_THROW(CpuRates().Microseconds(work), InternalError);
}

// Returns the kernel choices of two graphs that compute `node` from %x and %w. %w is a constant in the first
// graph and an input in the second graph.
std::vector<Choice> ChoicesOf(DType dtype, Precision precision, const Dims& x, const Dims& w,
                              const std::string& node) {
  const char* type = DTypeName(dtype);
  const auto session_for = [&](bool constant) {
    SessionOptions options;
    options.threads = 1;
    options.explain = true;
    options.precision = precision;
    const std::string weights = StrCat("  #s: i64[", w.size(), "] = (", Join(w, ", "),
                                       ")\n  %w = Fill(#s) {value=", type, "[] (0.5)}\n");
    return SessionOf(ParseOrDie(StrCat("graph @g(%x: ", Describe(dtype, x),
                                       constant ? "" : StrCat(", %w: ", Describe(dtype, w)), ") -> (%y) {\n",
                                       constant ? weights : "", "  %y = ", node, "\n}")),
                     options);
  };
  std::vector<Choice> all;
  for (const bool constant : {true, false}) {
    auto session = session_for(constant);
    DatumList inputs{Tensor(dtype, x)};
    if (!constant) inputs.emplace_back(Tensor(dtype, w));
    const auto run = session->Run(inputs);
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    for (Choice& choice : session->Choices()) all.push_back(std::move(choice));
  }
  return all;
}

std::vector<Choice> ManyChoices(DType dtype, Precision precision) {
  std::vector<Choice> all;
  const auto add = [&](const Dims& x, const Dims& w, const std::string& node) {
    for (Choice& choice : ChoicesOf(dtype, precision, x, w, node)) all.push_back(std::move(choice));
  };
  add({4, 8}, {8, 32}, "MatMul(%x, %w)");
  add({64, 512}, {512, 128}, "MatMul(%x, %w)");
  for (const char* order : {"", "channels_last=true,"}) {
    const auto image = [&](int64_t c) { return *order ? Dims{1, 12, 12, c} : Dims{1, c, 12, 12}; };
    add(image(16), {32, 16, 1, 1}, StrCat("Conv(%x, %w) {", order, "group=1}"));
    for (const int64_t side : {3, 5, 9})
      add(image(16), {32, 16, side, side}, StrCat("Conv(%x, %w) {", order, "group=1}"));
    add(image(16), {16, 1, 3, 3}, StrCat("Conv(%x, %w) {", order, "group=16}"));
    add(image(16), {16, 4, 3, 3}, StrCat("Conv(%x, %w) {", order, "group=4}"));
    add(image(16), {16, 16, 3, 3}, StrCat("Conv(%x, %w) {", order, "dilations=[4,4],pads=[4,4,4,4]}"));
    add(image(16), {16, 32, 2, 2}, StrCat("ConvTranspose(%x, %w) {", order, "strides=[2,2]}"));
  }
  return all;
}

// Returns the kernel choices of a QMatMul and of two QConvs with constant weights.
std::vector<Choice> QuantizedChoices() {
  std::vector<Choice> all;
  for (const char* node : {"QMatMul(%x, #q, _, %w, #q) {transpose_b=true}",
                           "QConv(%x, #q, _, %w, #q) {channels_last=true, group=1}",
                           "QConv(%x, #q, _, %w, #q) {channels_last=true, group=16}"}) {
    const bool matrix = node[1] == 'M', groups = std::string_view(node).find("16") != std::string::npos;
    const char* dims = matrix ? "(32, 16, 1, 1)" : groups ? "(16, 1, 3, 3)" : "(32, 16, 3, 3)";
    SessionOptions options;
    options.explain = true;
    const auto session =
        SessionOf(ParseOrDie(StrCat(
                      "graph @g(%x: u8[1,12,12,16]) -> (%y) {\n  #s: i64[4] = ", dims,
                      "  #q: f32[] = (0.1)  #m: i64[2] = (32, 16)\n  %v = Fill(#s) {value=i8[] (3)}\n",
                      matrix ? "  %w = Reshape(%v, #m)\n" : "  %w = Identity(%v)\n", "  %y = ", node, "\n}")),
                  options);
    const auto run = session->Run({Tensor(DType::kU8, {1, 12, 12, 16})});
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    for (Choice& choice : session->Choices()) all.push_back(std::move(choice));
  }
  return all;
}

// Returns the kernel choices of products with weights that stay quantized.
std::vector<Choice> WeightOnlyChoices() {
  std::vector<Choice> all;
  for (const char* attrs : {"{dynamic=false}", "{dynamic=true}"}) {
    SessionOptions options;
    options.explain = true;
    const auto session = SessionOf(
        ParseOrDie(StrCat("graph @g(%x: f32[2,64]) -> (%y) {\n  #d: i64[2] = (64, 32)  #q: f32[] = (0.1)\n"
                          "  %w = Fill(#d) {value=i8[] (3)}\n  %y = MatMulNBits(%x, %w, _, _, #q) ",
                          attrs, "\n}")),
        options);
    const auto run = session->Run({Tensor(DType::kF32, {2, 64})});
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    for (Choice& choice : session->Choices()) all.push_back(std::move(choice));
  }
  return all;
}

// Tests every kernel that has `work_of`. All algorithms that work_of returns must have rates for every
// instruction set. Each such kernel must be a candidate in at least one of the graphs below.
TEST(CostModel, EveryKernelsWorkHasRates) {
  InitOps();
  std::set<std::string> rated, seen, counting;
  for (const auto& [algorithm, isa] : RatedAlgorithms()) rated.insert(algorithm);
  const cpu::LevelKeeper keeper;
  for (int level : cpu::LevelsHere()) {
    cpu::LimitSimd(static_cast<cpu::SimdLevel>(level));
    const auto check = [&](const std::vector<Choice>& choices) {
      for (const Choice& choice : choices)
        for (const Candidate& c : choice.candidates)
          for (const Work& work : c.work) {
            EXPECT_TRUE(rated.count(work.algorithm)) << c.kernel << ": " << work.algorithm;
            seen.insert(c.kernel);
          }
    };
    for (const auto& [dtype, precision] : {std::pair(DType::kF32, Precision::kF32),
                                           {DType::kF32, Precision::kBf16},
                                           {DType::kF16, Precision::kF32}})
      check(ManyChoices(dtype, precision));
    check(QuantizedChoices());
    check(WeightOnlyChoices());
  }
  for (const OpDef* op : AllOps())
    for (const KernelEntry* entry : CpuKernels().Of(op->name))
      if (entry->can.work_of) counting.insert(entry->name);
  EXPECT_GT(counting.size(), 10u);
  EXPECT_EQ(seen, counting);
}

}  // namespace
}  // namespace tern
