// Shared by the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include "ir/evaluate.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "runtime/session.h"

namespace tern {

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

// 1, 2, 3, … shifted below zero a little, so that Relu has something to do.
inline Tensor Counting(const Dims& dims, double from = -2) {
  std::vector<double> values;
  for (int64_t i = 0; i < CountOf(dims); ++i) values.push_back(from + static_cast<double>(i));
  return Tensor::Of(DType::kF32, dims, values);
}

// Runs the session twice and compares each output with the reference evaluator's, bit by bit.
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

}  // namespace tern
