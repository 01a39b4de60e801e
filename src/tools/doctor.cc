// tern doctor: reports what this machine offers and what this build contains, and runs a self-test.
#include <fmt/core.h>

#include <cstring>
#include <optional>

#include "base/cpu_info.h"
#include "data/compare.h"
#include "data/json_writer.h"
#include "data/random.h"
#include "ir/builder.h"
#include "ir/evaluate.h"
#include "ir/tern_file.h"
#include "kernel_api/kernel_table.h"
#include "kernels/cpu/peak/bandwidth.h"
#include "kernels/cpu/peak/bf16_gain.h"
#include "kernels/cpu/peak/peak.h"
#include "kernels/cpu/simd/active_isa.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/simd/simd.h"
#include "ops/ops.h"
#include "runtime/bind/cpu_kernels.h"
#include "tools/engine.h"
#include "tools/format_operators.h"
#include "tools/timing.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

struct Check {
  std::string name, problem;  // `problem` is empty if the check passed
};

class DoctorTool : public Tool {
 public:
  const char* name() const override { return "doctor"; }
  const char* summary() const override {
    return "report what this machine offers and the build contains, run a self-test";
  }
  const char* examples() const override {
    return "  tern doctor\n"
           "  tern doctor --peak --threads 2 --json\n";
  }
  void Declare(Args& args) override {
    args.Flag("--peak", peak_,
              "measure how fast the processor multiplies and adds, and how fast it reads memory");
    args.Option("--threads", threads_, "N", "--peak measures one thread and N threads; 0 means one per core",
                0, 1024);
    args.Flag("--json", json_, "print one JSON object");
  }
  Result<int> Run(const Args& args) override;

 private:
  bool json_ = false, peak_ = false;
  int64_t threads_ = 0;
};

// The rates of one thread, and the total rates of several threads.
struct Peaks {
  cpu::PeakRate one, several;             // GFLOP/s
  double read_one = 0, read_several = 0;  // bytes per second
  int threads = 1;                        // the number of threads of `several` and `read_several`
};

// Returns the graph relu(x · w + b).
Result<std::unique_ptr<Graph>> SmallGraph() {
  auto graph = std::make_unique<Graph>("self-test");
  Value* x = graph->AddInput("x", Type::TensorOf(DType::kF32, Shape::Of({3, 16})));
  Builder b(*graph);
  TERN_ASSIGN(Tensor w, data::RandomTensor(DType::kF32, {16, 8}, 1, "w"));
  TERN_ASSIGN(Tensor bias, data::RandomTensor(DType::kF32, {8}, 1, "b"));
  Value* h = b.Op("MatMul", {x, b.Const(w)});
  Value* y = b.Op("Unary", {b.Op("Binary", {h, b.Const(bias)}, {{"kind", std::string("add")}})},
                  {{"kind", std::string("relu")}});
  TERN_TRY(b.status());
  graph->SetOutputs({y});
  return graph;
}

Status SameResults(const DatumList& got, const DatumList& wanted) {
  const data::Comparison c = data::Compare(got.at(0), wanted.at(0), {1e-5, 1e-6});
  return c.difference.empty() ? Status() : Status(Code::kInternal, c.difference);
}

Status CheckEngine() {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, SmallGraph());
  TERN_ASSIGN(Tensor x, data::RandomTensor(DType::kF32, {3, 16}, 2, "x"));
  TERN_ASSIGN(const DatumList wanted, EvaluateGraph(*graph, {x}));
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(graph), {}));
  TERN_ASSIGN(const DatumList got, engine.Run({x}));
  return SameResults(got, wanted);
}

Status CheckFile() {
  TERN_ASSIGN(std::unique_ptr<Graph> graph, SmallGraph());
  TERN_ASSIGN(const std::string bytes, SaveTernBytes(*graph));
  const Buffer aligned = Buffer::Allocate(bytes.size());
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  TERN_ASSIGN(std::unique_ptr<Graph> back, LoadTernBytes(aligned));
  TERN_ASSIGN(Tensor x, data::RandomTensor(DType::kF32, {3, 16}, 2, "x"));
  TERN_ASSIGN(const DatumList wanted, EvaluateGraph(*graph, {x}));
  TERN_ASSIGN(const DatumList got, EvaluateGraph(*back, {x}));
  return SameResults(got, wanted);
}

std::vector<Check> SelfTest() {
  std::vector<Check> checks;
  const std::pair<const char*, Status (*)()> all[] = {
      {"engine agrees with the reference evaluator", CheckEngine},
      {".tern file survives a round trip", CheckFile}};
  for (const auto& [name, run] : all) {
    const Status status = Guard([&, f = run] { return f(); });
    checks.push_back({name, status.ok() ? "" : status.ToString()});
  }
  return checks;
}

struct BuildFacts {
  size_t ops = 0, kernels = 0;
  std::vector<Coverage> formats = FormatCoverage();
};

BuildFacts Facts() {
  BuildFacts f;
  for (const OpDef* op : AllOps()) {
    ++f.ops;
    f.kernels += CpuKernels().Of(op->name).size();
  }
  return f;
}

// Returns the highest level of this machine, as a value of TERN_ISA.
const char* BestIsa() { return cpu::HasAmx() ? "amx" : cpu::NameOf(cpu::BestSimd()); }

bool UsesAmx() { return cpu::ActiveAmx() == cpu::AmxMode::kOn; }

std::string RateText(const cpu::PeakRate& rate) {
  std::string text = fmt::format("{:.0f} GFLOP/s f32", rate.f32);
  const std::pair<const char*, double> others[] = {
      {"bf16", rate.bf16}, {"int8", rate.int8}, {"AMX bf16", rate.amx_bf16}, {"AMX int8", rate.amx_int8}};
  for (const auto& [name, value] : others)
    if (value > 0) text += fmt::format(", {:.0f} {}", value, name);
  return text;
}

void WritePeaks(data::JsonWriter& json, const Peaks& peaks) {
  const std::pair<const char*, const cpu::PeakRate&> rates[] = {{"peak_gflops", peaks.one},
                                                                {"peak_gflops_threads", peaks.several}};
  for (const auto& [key, rate] : rates)
    json.Key(key)
        .BeginObject()
        .Key("fp32")
        .Number(rate.f32)
        .Key("bf16")
        .Number(rate.bf16)
        .Key("int8")
        .Number(rate.int8)
        .Key("amx_bf16")
        .Number(rate.amx_bf16)
        .Key("amx_int8")
        .Number(rate.amx_int8)
        .EndObject();
  json.Key("read_gb_per_s").Number(Rounded(peaks.read_one * 1e-9));
  json.Key("read_gb_per_s_threads").Number(Rounded(peaks.read_several * 1e-9));
  json.Key("peak_threads").Int(peaks.threads);
}

void Print(const BuildFacts& f, const std::vector<Check>& checks, const std::optional<Peaks>& peaks) {
  const CpuInfo& cpu = Cpu();
  fmt::print("tern      {} ({}, {})\n", TERN_VERSION, TERN_BUILD_TYPE, TERN_COMPILER);
  fmt::print("cpu       {}\nfeatures  {}\nbest isa  {}\n", cpu.model.empty() ? "unknown" : cpu.model,
             Join(cpu.features, " "), BestIsa());
  fmt::print("in use    {}{}{}\n", cpu::ActiveIsa(), UsesAmx() ? ", AMX" : "",
             cpu::ActiveBf16Products()
                 ? fmt::format(", bf16 dot products ({:.1f} times the rate of f32)", cpu::Bf16Gain())
                 : "");
  fmt::print("cores     {}\nmemory    {}B\n", cpu.cores, Thousands(static_cast<double>(cpu.memory_bytes)));
  fmt::print("ops       {}, with {} CPU kernels\n", f.ops, f.kernels);
  for (const Coverage& c : f.formats)
    fmt::print("{:<9} {} of {} operators imported\n", c.format, c.imported, c.all);
  if (peaks)
    fmt::print("peak      {}, {}B/s read on one thread; {}, {}B/s on {}\n", RateText(peaks->one),
               Thousands(peaks->read_one), RateText(peaks->several), Thousands(peaks->read_several),
               peaks->threads);
  for (const Check& c : checks)
    fmt::print("{:<9} {}{}\n", c.problem.empty() ? "ok" : "BROKEN", c.name,
               c.problem.empty() ? "" : ": " + c.problem);
}

void PrintJson(const BuildFacts& f, const std::vector<Check>& checks, const std::optional<Peaks>& peaks,
               bool ok) {
  const CpuInfo& cpu = Cpu();
  data::JsonWriter json;
  json.BeginObject()
      .Key("version")
      .Text(TERN_VERSION)
      .Key("build")
      .Text(TERN_BUILD_TYPE)
      .Key("compiler")
      .Text(TERN_COMPILER);
  json.Key("cpu").Text(cpu.model).Key("isa").Text(BestIsa()).Key("features").BeginArray();
  for (const std::string& feature : cpu.features) json.Text(feature);
  json.EndArray()
      .Key("simd")
      .Text(cpu::NameOf(cpu::ActiveSimd()))
      .Key("amx")
      .Bool(UsesAmx())
      .Key("bf16_products")
      .Bool(cpu::ActiveBf16Products())
      .Key("bf16_gain")
      .Number(cpu::Bf16Gain());
  json.Key("cores").Int(cpu.cores).Key("memory_bytes").Int(cpu.memory_bytes);
  json.Key("ops").Unsigned(f.ops).Key("kernels").Unsigned(f.kernels);
  if (peaks) WritePeaks(json, *peaks);
  json.Key("operators").BeginObject();
  for (const Coverage& c : f.formats) json.Key(c.format).Unsigned(c.imported);
  json.EndObject().Key("checks").BeginArray();
  for (const Check& c : checks)
    json.BeginObject()
        .Key("name")
        .Text(c.name)
        .Key("ok")
        .Bool(c.problem.empty())
        .Key("problem")
        .Text(c.problem)
        .EndObject();
  fmt::print("{}\n", json.EndArray().Key("ok").Bool(ok).EndObject().text());
}

Result<int> DoctorTool::Run(const Args& args) {
  if (args.Given("--threads") && !peak_) return InvalidArgument("--threads has no effect without --peak");
  InitOps();
  const std::vector<Check> checks = SelfTest();
  bool ok = true;
  for (const Check& c : checks) ok &= c.problem.empty();
  std::optional<Peaks> peaks;
  if (peak_) {
    const Workers workers(static_cast<int>(threads_));
    peaks = {cpu::MeasurePeak(Workers(1)), cpu::MeasurePeak(workers), cpu::ReadBandwidth(Workers(1)),
             cpu::ReadBandwidth(workers), workers.threads()};
  }
  if (json_)
    PrintJson(Facts(), checks, peaks, ok);
  else
    Print(Facts(), checks, peaks);
  return ok ? 0 : 1;
}

}  // namespace

TERN_TOOL(Doctor) { return std::make_unique<DoctorTool>(); }

}  // namespace tern::tools
