#include "case_runner.h"

#include <cstring>

#include "data/compare.h"
#include "ir/evaluate.h"
#include "ir/tern_file.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runtime/exec/session.h"

namespace tern {
namespace {

// The case as a graph in text form, so that the parser is exercised too; constants are put in afterwards.
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

data::Tolerance ToleranceOf(const Case& c, DType dtype) {
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

Result<DatumList> RunSession(std::shared_ptr<const Graph> graph, const DatumList& feeds, int threads) {
  SessionOptions options;
  options.threads = threads;
  TERN_ASSIGN(auto session, Session::Create(std::move(graph), options));
  return session->Run(feeds);
}

std::string CheckRoundTrips(const Graph& graph) {
  auto parsed = ParseGraph(PrintGraphExactly(graph));
  if (!parsed.ok()) return "its own text does not read back: " + parsed.status().ToString();
  if (!SameGraph(graph, **parsed)) return "its own text reads back as another graph";
  auto bytes = SaveTernBytes(graph);
  if (!bytes.ok()) return bytes.status().ToString();
  Buffer file = Buffer::Allocate(bytes->size());
  std::memcpy(file.data(), bytes->data(), bytes->size());
  auto loaded = LoadTernBytes(file);
  if (!loaded.ok()) return loaded.status().ToString();
  return SameGraph(graph, **loaded) ? "" : "its .tern file loads as another graph";
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
    auto session = RunSession(built->graph, built->feeds, 1);
    if (session.ok()) return "the reference fails as expected, but the session runs";
  }
  return message.find(c.fails) != std::string::npos
             ? ""
             : StrCat("should fail with \"", c.fails, "\", but says: ", message);
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
  for (int threads : {1, 2}) {
    auto got = RunSession(built->graph, built->feeds, threads);
    if (!got.ok()) return got.status().ToString();
    error = Compare(c, *got, wanted);
    if (!error.empty()) return StrCat("session, ", threads, " thread(s): ", error);
  }
  return CheckRoundTrips(*built->graph);
}

}  // namespace tern
