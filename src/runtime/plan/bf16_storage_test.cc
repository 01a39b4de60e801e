// Tests which values a bf16 session stores as bf16.
#include "runtime/plan/bf16_storage.h"

#include <cmath>
#include <cstring>

#include "base/strings.h"
#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

constexpr int64_t kSide = 12, kChannels = 64;

// Returns text that defines constant weights with varying values.
std::string Weights(const std::string& name, int64_t out_channels, int64_t channels, int64_t kernel) {
  return StrCat("  #", name, "s: i64[4] = (", out_channels, ", ", channels, ", ", kernel, ", ", kernel,
                ")\n  #", name, "n: i64[] = (", out_channels * channels * kernel * kernel, ")\n  #", name,
                "o: i64[] = (0)\n  #", name, "e: i64[] = (1)\n  %", name, "i = Range(#", name, "o, #", name,
                "n, #", name, "e)\n  %", name, "f = Cast(%", name, "i) {to=f32}\n  %", name, "u = Unary(%",
                name, "f) {kind=\"sin\"}\n  %", name, " = Reshape(%", name, "u, #", name, "s)\n");
}

constexpr const char* kFirst = "  %a = Conv(%x, %v) {channels_last=true, activation=\"relu\"}\n";

std::shared_ptr<const Graph> GraphOf(const std::string& outputs, const std::string& nodes) {
  return ParseOrDie(StrCat("graph @g(%x: f32[1,", kSide, ",", kSide, ",", kChannels, "]) -> (", outputs,
                           ") {\n", Weights("v", kChannels, kChannels, 1),
                           Weights("w", kChannels, kChannels, 1), Weights("z", kChannels, kChannels, 3),
                           nodes, "}"));
}

struct RunResult {
  std::vector<Tensor> outputs;
  size_t arena = 0;
};

RunResult RunIn(Precision precision, const std::shared_ptr<const Graph>& graph, const Tensor& x,
                int threads = 1) {
  SessionOptions options;
  options.precision = precision;
  options.threads = threads;
  auto session = SessionOf(graph, options);
  RunResult result;
  const auto got = session->Run(DatumList{x});
  EXPECT_TRUE(got.ok()) << got.status().ToString();
  if (got.ok())
    for (const Datum& d : *got) result.outputs.push_back(d.tensor.Clone());
  result.arena = session->Memory().arena;
  return result;
}

Tensor Input() {
  std::vector<double> values;
  for (int i = 0; i < kSide * kSide * kChannels; ++i) values.push_back(std::sin(0.37 * i));
  return Tensor::Of(DType::kF32, {1, kSide, kSide, kChannels}, values);
}

Tensor ToBf16(const Tensor& t) {
  Tensor rounded = t.Clone();
  auto* v = rounded.data<float>();
  for (int64_t i = 0; i < rounded.size(); ++i) v[i] = BFloatToFloat(FloatToBFloat(v[i]));
  return rounded;
}

void ExpectSame(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.dtype(), DType::kF32);
  ASSERT_EQ(a.dims(), b.dims());
  EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.bytes()), 0) << what;
}

struct Reader {
  const char* name;
  const char* node;  // text of the node that reads %x
  bool rounds;       // whether the node rounds an f32 %x to bf16
};
constexpr Reader kReaders[] = {
    {"1x1", "  %y = Conv(%x, %w) {channels_last=true}\n", true},
    {"3x3, strides", "  %y = Conv(%x, %z) {channels_last=true, pads=[1,1,1,1], strides=[2,2]}\n", true},
    {"residual", "  %y = Conv(%x, %w, _, %x) {channels_last=true, activation=\"relu\"}\n", false},
};

std::string Renamed(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Runs two nodes in one graph. Then runs each node alone, and rounds the value between them to bf16. Both
// results must be equal, on every instruction set of this machine that the environment allows.
TEST(Bf16Storage, RoundsTheIntermediateValue) {
  const Tensor x = Input();
  const cpu::LevelKeeper keeper;
  for (const int level : cpu::LevelsAndBf16Here())
    for (const Reader& reader : kReaders) {
      cpu::UseLevel(level);
      const std::string what = StrCat(reader.name, ", level ", level);
      const Tensor intermediate = RunIn(Precision::kBf16, GraphOf("%a", kFirst), x).outputs.at(0);
      const auto alone = GraphOf("%y", reader.node),
                 chained = GraphOf("%y", StrCat(kFirst, Renamed(reader.node, "%x", "%a")));
      const Tensor want = RunIn(Precision::kBf16, alone, ToBf16(intermediate)).outputs.at(0);
      if (reader.rounds) ExpectSame(RunIn(Precision::kBf16, alone, intermediate).outputs.at(0), want, what);
      for (int threads : {1, 3})
        ExpectSame(RunIn(Precision::kBf16, chained, x, threads).outputs.at(0), want, what);
    }
}

TEST(Bf16Storage, TakesHalfTheMemory) {
  const std::string chain = StrCat(kFirst,
                                   "  %b = Conv(%a, %w, _, %a) {channels_last=true}\n"
                                   "  %c = Conv(%b, %w, _, %b) {channels_last=true}\n"
                                   "  %y = Conv(%c, %w, _, %c) {channels_last=true}\n");
  const size_t value = kSide * kSide * kChannels * 4;
  EXPECT_GE(RunIn(Precision::kF32, GraphOf("%y", chain), Input()).arena, 2 * value);
  EXPECT_LT(RunIn(Precision::kBf16, GraphOf("%y", chain), Input()).arena, 2 * value);
}

// Outputs of the graph stay f32. A value also stays f32 if the kernel of one of its readers cannot read bf16.
TEST(Bf16Storage, OtherValuesStayF32) {
  const Tensor x = Input();
  const Tensor a = RunIn(Precision::kBf16, GraphOf("%a", kFirst), x).outputs.at(0);
  const std::string second = "  %b = Conv(%a, %w) {channels_last=true}\n";
  const RunResult output = RunIn(Precision::kBf16, GraphOf("%a, %b", StrCat(kFirst, second)), x);
  ExpectSame(output.outputs.at(0), a, "an output");
  const RunResult read = RunIn(
      Precision::kBf16, GraphOf("%s, %b", StrCat(kFirst, second, "  %s = Unary(%a) {kind=\"neg\"}\n")), x);
  for (int64_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(read.outputs.at(0).data<const float>()[i], -a.data<const float>()[i]);
  const Tensor exact = RunIn(Precision::kF32, GraphOf("%a", kFirst), x).outputs.at(0);
  const RunResult plain = RunIn(Precision::kF32, GraphOf("%b", StrCat(kFirst, second)), x),
                  alone = RunIn(Precision::kF32, GraphOf("%b", Renamed(second, "%a", "%x")), exact);
  ExpectSame(plain.outputs.at(0), alone.outputs.at(0), "fp32");
}

}  // namespace
}  // namespace tern
