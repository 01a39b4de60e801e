// Helpers for counting an op's work. All return nullopt if a required dim is unknown.
#pragma once
#include <functional>
#include <optional>

#include "ir/op_answers.h"

namespace tern {

struct Value;

// FLOPs per element of functions that several ops apply.
constexpr double kGeluFlops = 5, kActivationFlops = 2;

// Element count of a tensor; 0 for an absent value.
std::optional<double> ElementsOf(const Value* v);
std::optional<double> DimOf(const Value* v, int axis);  // a negative axis counts from the end
std::optional<double> Times(std::optional<double> a, std::optional<double> b);

// Return rules that count `flops` for each element of output 0 (PerOutput) or of input 0 (PerInput).
std::function<CountRule> PerOutput(double flops);
std::function<CountRule> PerInput(double flops);

// Returns the number of multiply-accumulates of a node; 0 for an op without any.
std::optional<double> MacsOf(const Node& node);

}  // namespace tern
