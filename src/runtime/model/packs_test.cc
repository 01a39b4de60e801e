// Tests which packed weights are stored in files and found again, and that packs of different weights are
// never confused.
#include "runtime/model/packs.h"

#include <set>

#include "ir/derived.h"
#include "ir/tern_file.h"
#include "kernels/cpu/simd/active_isa.h"
#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

SessionOptions Layout() {
  SessionOptions options;
  options.level = Level::kLayout;
  return options;
}

Value* Named(Graph& graph, const std::string& name) {
  for (const auto& v : graph.values())
    if (v->name == name) return v.get();
  return nullptr;
}

// Returns a copy of the graph that also contains the weights that a session packed for these inputs.
std::unique_ptr<Graph> WithPacks(const Graph& graph, const DatumList& inputs) {
  auto session = SessionOf(std::shared_ptr<const Graph>(graph.Clone()), Layout());
  auto run = session->Run(inputs);
  EXPECT_TRUE(run.ok()) << run.status().ToString();
  std::unique_ptr<Graph> copy = graph.Clone();
  EXPECT_GT(SetPacks(*copy, session->PackedWeights()), 0);
  return copy;
}

std::unique_ptr<Graph> ThroughFile(const Graph& graph, std::string& bytes) {
  auto saved = SaveTernBytes(graph);
  EXPECT_TRUE(saved.ok());
  bytes = std::move(*saved);
  auto loaded = LoadTernBytes(Buffer::Borrow(bytes.data(), bytes.size(), std::make_shared<int>()));
  EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
  return std::move(*loaded);
}

constexpr char kProduct[] = R"(graph @g(%x: f32[N,2]) -> (%y) {
  #w: f32[2,2] = (1, 2, 3, 4)
  #v: f32[2,2] = (5, 6, 7, 8)
  %h = Relu(MatMul(%x, #w))
  %y = MatMul(%h, #v)
})";

TEST(Packs, BranchesWithWeightsOfTheSameNameUseTheirOwn) {
  for (const Level level : {Level::kNone, Level::kLayout}) {
    SessionOptions options;
    options.level = level;
    auto session = SessionOf(ParseOrDie(R"(graph @g(%c: bool[], %x: f32[3,2]) -> (%y) {
      %y = If(%c) [then @t() -> (%a) {
        #w: f32[2,2] = (1, 2, 3, 4)
        %a = MatMul(%x, #w)
      } else @e() -> (%b) {
        #w: f32[2,2] = (5, 6, 7, 8)
        %b = MatMul(%x, #w)
      }]
    })"),
                             options);
    for (double c : {1, 0})
      ExpectLikeReference(*session, {Tensor::Scalar(DType::kBool, c), Counting({3, 2})});
    EXPECT_TRUE(session->PackedWeights().empty()) << "names in subgraphs are not unique";
  }
}

// A weight of the branch has the same name as a weight of the main graph. The file contains the pack of the
// main graph's weight.
TEST(Packs, OfTheMainGraphAreNotUsedInBranches) {
  const auto graph = ParseOrDie(R"(graph @g(%c: bool[], %x: f32[3,2]) -> (%y, %z) {
    #w: f32[2,2] = (1, 2, 3, 4)
    %z = MatMul(%x, #w)
    %y = If(%c) [then @t() -> (%a) {
      #w: f32[2,2] = (5, 6, 7, 8)
      %a = MatMul(%x, #w)
    } else @e() -> (%b) { %b = Relu(%x) }]
  })");
  const DatumList inputs{Tensor::Scalar(DType::kBool, 1), Counting({3, 2})};
  auto want = EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(want.ok());
  auto session = SessionOf(std::shared_ptr<const Graph>(WithPacks(*graph, inputs)), Layout());
  auto got = session->Run(inputs);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(SameTensor((*got)[i].tensor, (*want)[i].tensor)) << i;
}

// Each matrix of a recurrent layer has its own pack.
TEST(Packs, LayersThatShareOneOfTwoWeightsShareItsPackOnly) {
  const auto graph = ParseOrDie(R"(graph @g(%x: f32[2,1,1]) -> (%y, %z) {
    #w: f32[1,1,1] = (0.5)
    #r: f32[1,1,1] = (0.25)
    #s: f32[1,1,1] = (-0.75)
    %y = Rnn(%x, #w, #r) {kind="rnn"}
    %z = Rnn(%x, #w, #s) {kind="rnn"}
  })");
  const DatumList inputs{Counting({2, 1, 1}, 1)};
  auto want = EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(want.ok());
  const std::shared_ptr<const Graph> packed = WithPacks(*graph, inputs);
  EXPECT_EQ(PacksOf(*packed).size(), 3u);
  for (const auto& g : {graph, packed}) {
    auto got = SessionOf(g, Layout())->Run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    for (size_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 2; ++j)
        EXPECT_NEAR((*got)[i].tensor.data<const float>()[j], (*want)[i].tensor.data<const float>()[j], 1e-6);
  }
}

// The pack layouts of the two weights of an Rnn differ.
TEST(Packs, OneConstantForBothWeightsIsPackedTwice) {
  std::string weights;
  for (int i = 0; i < 9; ++i) weights += StrCat(i ? ", " : "", (i * 5) % 7 - 3, ".0");
  const auto graph = ParseOrDie(StrCat("graph @g(%x: f32[4,1,3]) -> (%y) {\n  #w: f32[1,3,3] = (", weights,
                                       ")\n  %y = Rnn(%x, #w, #w) {kind=\"rnn\"}\n}"));
  const DatumList inputs{
      Tensor::Of(DType::kF32, {4, 1, 3}, {.1, -.2, .3, .4, .1, -.3, .2, .2, .5, -.1, .3, .1})};
  auto want = EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(want.ok());
  const std::shared_ptr<const Graph> packed = WithPacks(*graph, inputs);
  EXPECT_EQ(PacksOf(*packed).size(), 2u);
  auto got = SessionOf(packed, Layout())->Run(inputs);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  const auto a = ToDoubles((*got)[0].tensor), b = ToDoubles((*want)[0].tensor);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
}

TEST(Packs, OfWeightsThatWereEditedAreNotUsed) {
  const auto graph = ParseOrDie(kProduct);
  const DatumList inputs{Counting({3, 2})};
  std::unique_ptr<Graph> packed = WithPacks(*graph, inputs);
  ASSERT_EQ(PacksOf(*packed).size(), 2u);
  Named(*packed, "w")->constant = Counting({2, 2}, 10);
  auto want = EvaluateGraph(*packed, inputs);
  ASSERT_TRUE(want.ok());
  EXPECT_EQ(PacksOf(*packed).size(), 1u) << "only the pack of v is left";
  std::string bytes;
  std::shared_ptr<const Graph> loaded = ThroughFile(*packed, bytes);
  EXPECT_EQ(PacksOf(*loaded).size(), 1u) << "only the pack of v is left";
  for (const std::shared_ptr<const Graph>& g : {std::shared_ptr<const Graph>(std::move(packed)), loaded}) {
    auto session = SessionOf(g, Layout());
    auto got = session->Run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_TRUE(SameTensor((*got)[0].tensor, (*want)[0].tensor));
  }
}

TEST(Packs, WeightsThatWereSwappedInTheFileAreDetected) {
  const auto graph = ParseOrDie(kProduct);
  std::unique_ptr<Graph> packed = WithPacks(*graph, {Counting({3, 2})});
  std::swap(Named(*packed, "w")->constant, Named(*packed, "v")->constant);
  std::string bytes;
  EXPECT_TRUE(PacksOf(*ThroughFile(*packed, bytes)).empty());
}

// The bytes of a weight can change while its name stays, for example if the optimizer folds a factor into it.
TEST(Packs, OfOtherBytesAreNotStored) {
  std::unique_ptr<Graph> packed = WithPacks(*ParseOrDie(kProduct), {Counting({3, 2})});
  Packs packs = PacksOf(*packed);
  for (auto& [key, pack] : packs) pack.made_from[0] = nullptr;
  EXPECT_EQ(SetPacks(*packed, packs), 0) << "the packs were not made from these weights";
}

// Keys contain the instruction set as text.
TEST(Packs, AreForOneInstructionSet) {
  const auto graph = ParseOrDie(kProduct);
  const Node& node = *graph->nodes().front();
  std::set<std::string> keys;
  const cpu::LevelKeeper keeper;
  const std::vector<int> levels = cpu::LevelsHere();
  for (int level : levels) {
    cpu::LimitSimd(static_cast<cpu::SimdLevel>(level));
    const std::string key = PackKey("cpu.x", DefaultTarget().isa(), node, {1});
    EXPECT_NE(
        key.find(StrCat("pack ", kPackFormat, " cpu.x ", cpu::Architecture(), " ", cpu::ActiveIsa(), " ")),
        std::string::npos)
        << key;
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), levels.size());
}

// Files of an older format identify instruction sets by numbers, which are ambiguous.
TEST(Packs, OfAnOlderFormatAreIgnored) {
  const auto graph = ParseOrDie(kProduct);
  const DatumList inputs{Counting({3, 2})};
  auto want = EvaluateGraph(*graph, inputs);
  ASSERT_TRUE(want.ok());
  std::unique_ptr<Graph> packed = WithPacks(*graph, inputs);
  int changed = 0;
  for (const auto& v : packed->values()) {
    auto name = ParseDerivedName(v->name);
    if (!name) continue;
    const std::vector<std::string> words = SplitText(name->what, ' ');  // pack FORMAT LAYOUT …
    ASSERT_EQ(words[1], StrCat(kPackFormat));
    name->what = StrCat("pack 1 ", words[2], " 7 ", words[words.size() - 2], " ", words.back());
    v->name = ToText(*name);
    v->constant = Tensor(DType::kF32, v->constant.dims());  // zeros
    ++changed;
  }
  ASSERT_EQ(changed, 2);
  std::string bytes;
  std::shared_ptr<const Graph> loaded = ThroughFile(*packed, bytes);
  EXPECT_EQ(PacksOf(*loaded).size(), 2u) << "they match their weights, but no kernel uses them";
  auto session = SessionOf(loaded, Layout());
  auto got = session->Run(inputs);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_TRUE(SameTensor((*got)[0].tensor, (*want)[0].tensor));
  EXPECT_EQ(session->PackedWeights().size(), 2u);
  for (const auto& [key, pack] : session->PackedWeights())
    EXPECT_NE(key.find(StrCat("pack ", kPackFormat, " ")), std::string::npos) << key;
}

TEST(Packs, NamesOfDerivedConstantsReadBack) {
  const DerivedName name{"pack 1 cpu.x", {{"a:b|c", 7}, {"", ~uint64_t{0}}, {"3:x", 0}}};
  const auto back = ParseDerivedName(ToText(name));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->what, name.what);
  EXPECT_EQ(back->made_from, name.made_from);
  for (const char* text : {"", "w", "tern.derived:", "tern.derived:a|1", "tern.derived:a|1:9:w",
                           "tern.derived:a|x:1:w", "tern.derived:a|1:-1:w"})
    EXPECT_FALSE(ParseDerivedName(text)) << text;
  EXPECT_TRUE(ParseDerivedName("tern.derived:a|")->made_from.empty());
}

}  // namespace
}  // namespace tern
