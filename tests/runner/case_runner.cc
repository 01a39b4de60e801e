#include "case_runner.h"

#include <cstring>

#include "data/compare.h"
#include "ir/evaluate.h"
#include "ir/tern_file.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "kernels/cpu/simd/simd.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/exec/session.h"

namespace tern {
namespace {

// Returns the graph of the case in text form, so that the parser is tested too. In this graph, constants are
// inputs, which the caller converts to constants.
std::string GraphText(const Case& c) {
  std::string parameters, arguments, outputs;
  for (const CaseInput& in : c.inputs) {
    if (!arguments.empty()) arguments += ", ";
    if (!in.value.defined()) {
      arguments += "_";
      continue;
    }
    arguments += "%" + in.name;
    parameters += StrCat(parameters.empty() ? "" : ", ", "%", in.name, ": ", in.value.Describe());
  }
  for (const CaseOutput& out : c.outputs) outputs += StrCat(outputs.empty() ? "" : ", ", "%", out.name);
  if (outputs.empty()) outputs = "%y";
  const std::string attrs = c.attrs.empty() ? "" : " {" + c.attrs + "}";
  return StrCat("graph @case(", parameters, ") -> (", outputs, ") {\n  ", outputs, " = ", c.op, "(",
                arguments, ")", attrs, "\n}");
}

struct Built {
  std::shared_ptr<Graph> graph;
  DatumList feeds;
};

Result<Built> Build(const Case& c) {
  TERN_ASSIGN(auto graph, ParseGraph(GraphText(c)));
  Built built{std::move(graph), {}};
  const auto inputs = built.graph->inputs();
  size_t at = 0;
  for (const CaseInput& in : c.inputs) {
    if (!in.value.defined()) continue;
    Value* v = inputs[at++];
    if (in.constant)
      built.graph->InputToConstant(v, in.value);
    else
      built.feeds.emplace_back(in.value);
  }
  TERN_TRY(InferGraph(*built.graph));
  TERN_TRY(VerifyGraph(*built.graph));
  return built;
}

// Returns the relative tolerance for a case with random operands (a case on one line). It is multiplied by
// max(|wanted|, 1). For f32 and f64, it is smaller than the relative tolerance of other cases (ToleranceOf);
// for bf16, it is larger. A tolerance that the case sets applies to f32 only.
double RandomTolerance(const Case& c, DType dtype) {
  if (dtype == DType::kF32 && c.tolerance >= 0) return c.tolerance;
  if (dtype == DType::kF16) return 2e-3;
  if (dtype == DType::kBF16) return 1.6e-2;
  return dtype == DType::kF64 ? 1e-12 : 1e-5;
}

data::Tolerance ToleranceOf(const Case& c, DType dtype) {
  if (!c.operands.empty())
    return {.relative = RandomTolerance(c, dtype), .absolute = 0, .least_magnitude = 1};
  if (c.tolerance >= 0) return {c.tolerance, c.tolerance};
  if (dtype == DType::kF16) return {2e-3, 1e-4};
  if (dtype == DType::kBF16) return {1e-2, 1e-3};
  if (dtype == DType::kF64) return {1e-10, 1e-12};
  return {2e-5, 1e-6};
}

std::string Compare(const Case& c, const DatumList& got, const DatumList& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    const DType dtype = wanted[i].is_tensor() ? wanted[i].tensor.dtype() : DType::kInvalid;
    const std::string error = data::Compare(got[i], wanted[i], ToleranceOf(c, dtype)).difference;
    if (!error.empty()) return StrCat("output ", i, ": ", error);
  }
  return {};
}

struct Ran {
  DatumList outputs, bound;  // `outputs` are in the plan's memory, `bound` in the caller's memory
  std::string by_reference;  // why the reference evaluator ran instead of a kernel; empty if it did not
};

std::string TypesOf(const Case& c) {
  std::string types;
  for (const CaseInput& in : c.inputs)
    types += StrCat(types.empty() ? "" : " ", in.value.defined() ? in.value.Describe() : "_");
  return types;
}

// Returns why the reference evaluator ran instead of a kernel. Returns an empty string if a kernel ran, or if
// the op has no kernels.
std::string ByReference(const Session& session, const Case& c) {
  for (const Fallback& fallback : session.Fallbacks())
    if (!CpuKernels().Of(fallback.op).empty())
      return StrCat("no kernel of ", fallback.op, " takes ", TypesOf(c));
  const bool folded = session.InputCount() == 0;
  return folded && !CpuKernels().Of(c.op).empty() ? "all nodes are computed before the run" : "";
}

// Runs the session with its outputs bound to tensors on the heap, so that sanitizers report a write beyond
// the end of an output. `like` are outputs of the same types and dims.
Result<DatumList> RunBound(Session& session, const DatumList& like) {
  DatumList bound;
  for (size_t i = 0; i < like.size(); ++i) {
    if (!like[i].is_tensor() || like[i].tensor.dtype() == DType::kString) return like;
    bound.push_back(Tensor(like[i].tensor.dtype(), like[i].tensor.dims()));
    TERN_TRY(session.BindOutput(static_cast<int>(i), bound[i].tensor));
  }
  TERN_TRY(session.Run());
  return bound;
}

Result<Ran> RunSession(const Case& c, const Built& built, int threads) {
  SessionOptions options;
  options.threads = threads;
  TERN_ASSIGN(auto session, Session::Create(built.graph, options));
  Ran ran;
  TERN_ASSIGN(ran.outputs, session->Run(built.feeds));
  TERN_ASSIGN(ran.bound, RunBound(*session, ran.outputs));
  ran.by_reference = ByReference(*session, c);
  return ran;
}

// Checks that the case has `by_reference` if and only if the reference evaluator ran instead of a kernel.
std::string CheckByReference(const Case& c, const std::string& found) {
  if (found.empty() == c.by_reference.empty()) return "";
  return found.empty() ? StrCat("kernels run it; by_reference \"", c.by_reference, "\" is not true")
                       : StrCat("compares the reference evaluator with itself: ", found,
                                "; add a kernel, or by_reference and the reason");
}

std::string CheckRoundTrips(const Graph& graph) {
  auto parsed = ParseGraph(PrintGraphExactly(graph));
  if (!parsed.ok()) return "the printed graph does not parse: " + parsed.status().ToString();
  if (!SameGraph(graph, **parsed)) return "the printed graph parses to a different graph";
  auto bytes = SaveTernBytes(graph);
  if (!bytes.ok()) return bytes.status().ToString();
  Buffer file = Buffer::Allocate(bytes->size());
  std::memcpy(file.data(), bytes->data(), bytes->size());
  auto loaded = LoadTernBytes(file);
  if (!loaded.ok()) return loaded.status().ToString();
  return SameGraph(graph, **loaded) ? "" : "the .tern file loads as a different graph";
}

std::string ExpectFailure(const Case& c) {
  auto built = Build(c);
  std::string message;
  if (!built.ok()) {
    message = built.status().ToString();
  } else {
    auto result = EvaluateGraph(*built->graph, built->feeds);
    if (result.ok()) return StrCat("should fail with \"", c.fails, "\", but runs");
    message = result.status().ToString();
    if (RunSession(c, *built, 1).ok()) return "the reference fails as expected, but the session runs";
  }
  return message.find(c.fails) != std::string::npos
             ? ""
             : StrCat("should fail with \"", c.fails, "\", but fails with: ", message);
}

std::string CheckSession(const Case& c, const Built& built, const DatumList& wanted, int threads) {
  auto got = RunSession(c, built, threads);
  if (!got.ok()) return got.status().ToString();
  if (auto error = Compare(c, got->outputs, wanted); !error.empty()) return error;
  if (auto error = Compare(c, got->bound, wanted); !error.empty()) return StrCat("bound ", error);
  return CheckByReference(c, got->by_reference);
}

// Runs sessions at every instruction set of the machine, with 1 and 2 threads.
std::string CheckSessions(const Case& c, const Built& built, const DatumList& wanted) {
  const cpu::SimdLevel best = cpu::ActiveSimd();
  std::string failure;
  for (int level = 0; level <= static_cast<int>(best) && failure.empty(); ++level)
    for (int threads : {1, 2}) {
      cpu::LimitSimd(static_cast<cpu::SimdLevel>(level));
      const std::string error = CheckSession(c, built, wanted, threads);
      if (error.empty()) continue;
      failure = StrCat("session, ", cpu::NameOf(cpu::ActiveSimd()), ", ", threads, " thread(s): ", error);
      break;
    }
  cpu::LimitSimd(best);
  return failure;
}

}  // namespace

std::string RunCase(const Case& c) {
  if (!c.fails.empty()) return ExpectFailure(c);
  auto built = Build(c);
  if (!built.ok()) return built.status().ToString();
  auto reference = EvaluateGraph(*built->graph, built->feeds);
  if (!reference.ok()) return reference.status().ToString();
  DatumList wanted;
  for (size_t i = 0; i < c.outputs.size(); ++i)
    wanted.push_back(c.outputs[i].value.defined() ? Datum(c.outputs[i].value) : (*reference)[i]);
  std::string error = Compare(c, *reference, wanted);
  if (!error.empty()) return "reference: " + error;
  error = CheckSessions(c, *built, wanted);
  return error.empty() ? CheckRoundTrips(*built->graph) : error;
}

}  // namespace tern
