// The time per node of a predictor's runs. Included by tern/tern.hpp.
//
//   if (tern::Status ran = predictor->Run(); !ran.ok()) return ran;  // builds the plan and packs the weights
//   if (tern::Status started = predictor->StartProfile(); !started.ok()) return started;
//   for (int i = 0; i < 20; ++i)
//     if (tern::Status ran = predictor->Run(); !ran.ok()) return ran;
//   auto profile = predictor->StopProfile();
//   for (const tern::ProfiledNode& node : profile->nodes) Show(node.op, node.kernel, node.fastest);
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tern/types.hpp"

namespace tern {
TERN_API_NAMESPACE {
  // The times of one node of the optimized graph. If one kernel call computes two nodes, they have one entry.
  // A node has one entry per kernel that computed it; different shapes may have different kernels.
  struct ProfiledNode {
    std::string name;    // name of the node, or of its first output if the node has no name
    std::string op;      // "Conv", "Binary.add", or "Conv + Pool.max" if one kernel call computes two nodes
    std::string kernel;  // "cpu.conv.f32"; "reference" is the slow reference evaluator
    std::string output;  // type of the first output: "f32[N,64,56,56]"
    // Number of enclosing graphs: 0 for a node of the main graph, 1 for a node in the body of a loop. The
    // time of a loop includes the time of the nodes in its body.
    int depth = 0;
    int64_t runs = 0;                     // number of runs that computed the node
    int64_t calls = 0;                    // number of kernel calls in all runs
    std::chrono::nanoseconds total{0};    // time of all calls
    std::chrono::nanoseconds fastest{0};  // shortest time of the node in one run
    double flops = 0;  // FLOPs of one run; 0 if they are unknown, for example because dims are open
    double bytes = 0;  // bytes that one run reads and writes, each value counted once; 0 if they are unknown
  };

  struct Profile {
    int64_t runs = 0;  // runs that succeeded; other runs are not recorded
    // Times of the runs. They include the checks of inputs, and the building of plans for new shapes.
    std::chrono::nanoseconds total{0}, fastest{0};
    std::vector<ProfiledNode> nodes;  // in the order of their first calls
  };

}  // TERN_API_NAMESPACE
}  // namespace tern
