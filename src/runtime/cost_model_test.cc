#include "runtime/cost_model.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ops/ops.h"
#include "runtime/kernel.h"

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
    EXPECT_GE(Microseconds(none), 0) << algorithm;
    EXPECT_GT(Microseconds(much), 1000 + Microseconds(none)) << algorithm;
  }
}

TEST(CostModel, EstimatesOfOneNodeHaveOneUnit) {
  InitOps();
  const OpDef& op = *FindOp("Identity");
  KernelQuery query(op, op.defaults);
  query.inputs = query.outputs = {{DType::kF32, {1000, 1000}}};
  KernelEntry plain, twice, given;
  twice.cost = 2;
  given.cost_of = [](const KernelQuery&) { return 5.0; };
  KernelEntry counted;
  counted.work_of = [](const KernelQuery&) {
    Work w;
    w.moved = 8e6;
    return std::vector<Work>{w};
  };
  EXPECT_EQ(EstimatedMicroseconds(twice, query), 2 * EstimatedMicroseconds(plain, query));
  EXPECT_EQ(EstimatedMicroseconds(given, query), 5);
  EXPECT_EQ(EstimatedMicroseconds(counted, query), EstimatedMicroseconds(plain, query)) << "8 MB moved";
}

}  // namespace
}  // namespace tern
