// Runs a single node on given data, without a plan. Constant folding uses it.
#pragma once
#include "base/thread_pool.h"
#include "ir/graph.h"
#include "kernel_api/target.h"

namespace tern {

// Infers the types of the node's outputs. Every present input must have its type or its constant set.
// `subgraphs` infers the types of the node's subgraphs, if the node has any. Errors name the node.
Result<std::vector<InferOutput>> InferOutputs(const Node& node, std::vector<InferInput> inputs,
                                              InferContext::SubgraphInfer subgraphs = {});

// Returns the node's op, attributes and subgraphs as a query without operands and results.
KernelQuery NodeQuery(const Node& node);

// Returns the kernel query for a node whose input data are all known. `inputs` contains null for each absent
// input.
KernelQuery QueryOf(const Node& node, const std::vector<const Datum*>& inputs,
                    const std::vector<Type>& outputs);

// Returns whether all types are numeric tensors with known dims, as a kernel query requires.
bool AllConcrete(const std::vector<Type>& types);

// Runs the node with the best kernel, or with the reference evaluator if no kernel supports it. The node has
// no subgraphs.
Result<DatumList> RunOnce(const Node& node, const std::vector<const Datum*>& inputs, const Target& target,
                          const Workers& workers);

}  // namespace tern
