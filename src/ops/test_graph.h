// Evaluates one op on constants, for unit tests.
#pragma once
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/evaluate.h"
#include "ops/ops.h"

namespace tern {

inline Result<DatumList> EvaluateOp(const char* op, const std::vector<Tensor>& inputs,
                                    const AttrList& attrs = {}) {
  InitOps();
  Graph graph;
  Builder b(graph);
  std::vector<Value*> values;
  for (const Tensor& t : inputs) values.push_back(t.defined() ? b.Const(t) : nullptr);
  Value* y = b.Op(op, values, attrs);
  if (!b.status().ok()) return b.status();
  graph.SetOutputs({y});
  return EvaluateGraph(graph, {});
}

// Returns the first output. If the evaluation fails, fails the test and returns an undefined tensor.
inline Tensor OutputOf(const char* op, const std::vector<Tensor>& inputs, const AttrList& attrs = {}) {
  auto result = EvaluateOp(op, inputs, attrs);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? (*result)[0].tensor : Tensor();
}

}  // namespace tern
