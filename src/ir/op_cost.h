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
std::optional<double> DimOf(const Value* v, int axis);  // negative: counted from the end
std::optional<double> Times(std::optional<double> a, std::optional<double> b);

// Rules: `flops` for each element of output 0, or of input 0.
std::function<CountRule> PerOutput(double flops);
std::function<CountRule> PerInput(double flops);

// Multiply-accumulates of a node; 0 for an op without any.
std::optional<double> MacsOf(const Node& node);

}  // namespace tern
