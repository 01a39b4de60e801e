// Helpers for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <random>

#include "base/strings.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "runtime/bind/cpu_target.h"
#include "runtime/exec/session.h"

namespace tern {

// Returns a CPU target with this kernel table. The target lives until the test binary ends, because a target
// must outlive its models. The table must outlive the sessions.
inline const Target* KeepTarget(const KernelTable& table) {
  static auto* targets = new std::vector<std::unique_ptr<CpuTarget>>();
  return targets->emplace_back(std::make_unique<CpuTarget>(table)).get();
}

inline std::shared_ptr<const Graph> ParseOrDie(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? std::shared_ptr<const Graph>(std::move(*graph)) : nullptr;
}

inline std::unique_ptr<Session> SessionOf(std::shared_ptr<const Graph> graph,
                                          const SessionOptions& options = {}) {
  auto session = Session::Create(std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return session.ok() ? std::move(*session) : nullptr;
}

// Returns a tensor with the elements from, from + 1, from + 2, … The default starts below zero, so that Relu
// changes some elements.
inline Tensor Counting(const Dims& dims, double from = -2) {
  std::vector<double> values;
  for (int64_t i = 0; i < CountOf(dims); ++i) values.push_back(from + static_cast<double>(i));
  return Tensor::Of(DType::kF32, dims, values);
}

// Returns a tensor of random multiples of 0.001 from -1 to 1. Sums of them are rounded, so a test can detect
// a changed order of addition.
inline Tensor Noise(const Dims& dims, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<size_t>(CountOf(dims)));
  for (double& v : values) v = double(int(random() % 2001)) / 1000 - 1;
  return Tensor::Of(DType::kF32, dims, values);
}

// Runs the session twice and compares each output bit by bit with the reference evaluator's.
inline void ExpectLikeReference(Session& session, const DatumList& inputs) {
  auto want = EvaluateGraph(session.graph(), inputs);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  for (int round = 0; round < 2; ++round) {
    auto got = session.Run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    for (size_t i = 0; i < want->size(); ++i) {
      ASSERT_EQ((*got)[i].kind, (*want)[i].kind);
      if (!(*want)[i].is_tensor()) continue;
      EXPECT_TRUE(SameTensor((*got)[i].tensor, (*want)[i].tensor))
          << "output " << i << " in round " << round << ": " << (*got)[i].Describe() << " against "
          << (*want)[i].Describe();
    }
  }
}

// Returns the kernel that is chosen for the last node of a graph. `node` is the text of this node. The node
// reads %x and the constant weights %w.
inline std::string KernelChosen(const Dims& x, const Dims& w, const std::string& node) {
  std::string shape;
  for (int64_t d : w) shape += StrCat(shape.empty() ? "" : ", ", d);
  auto session = SessionOf(
      ParseOrDie(StrCat("graph @g(%x: ", Describe(DType::kF32, x), ") -> (%y) {\n  #s: i64[", w.size(),
                        "] = (", shape, ")\n  %w = Fill(#s) {value=f32[] (0.5)}\n  %y = ", node, "\n}")));
  if (!session) return "";
  EXPECT_TRUE(session->BindInput(0, Counting(x)).ok());
  EXPECT_TRUE(session->Prepare().ok());
  const std::vector<StepInfo> steps = session->Steps();
  return steps.empty() ? "" : steps.back().kernel;
}

// Returns the kernel that is chosen for a channels-last convolution.
inline std::string ConvKernelChosen(const Dims& x, const Dims& w, const std::string& attrs) {
  return KernelChosen(x, w, StrCat("Conv(%x, %w) {channels_last=true, ", attrs, "}"));
}

}  // namespace tern
