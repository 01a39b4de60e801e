// One node on given data, outside any plan: how constants are folded.
#pragma once
#include "base/thread_pool.h"
#include "ir/graph.h"
#include "kernel_api/target.h"

namespace tern {

// What the node's outputs are for these inputs; errors name the node. inputs: present ones have type or
// constant.
Result<std::vector<InferOutput>> InferOutputs(const Node& node, std::vector<InferInput> inputs);

// The query for a node whose inputs are all data (null: absent) and whose outputs have these types.
KernelQuery QueryOf(const Node& node, const std::vector<const Datum*>& inputs,
                    const std::vector<Type>& outputs);

// Tensors of numbers whose dims are all known: what a kernel can be asked about.
bool AllConcrete(const std::vector<Type>& types);

// By the best kernel, or by the reference evaluator when there is none. For nodes without subgraphs.
Result<DatumList> RunOnce(const Node& node, const std::vector<const Datum*>& inputs, const Target& target,
                          const Workers& workers);

}  // namespace tern
