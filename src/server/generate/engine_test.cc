#include "server/generate/engine.h"

#include "server/core/eventually.h"
#include "server/generate/generator_model.h"
#include "server/generate/test_support.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {
namespace {

std::vector<int64_t> Prompt(int64_t first, int64_t count) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back((first + 37 * i) % 256);
  return out;
}

// A version with the small model and an executor.
struct Generator {
  std::unique_ptr<Scheduler> scheduler = Scheduler::Create(SchedulerOptions{2, std::chrono::microseconds(0)});
  std::shared_ptr<GeneratorModel> version;

  explicit Generator(EngineLimits limits = {4, 64, 4 * 128}, int64_t chunk = 8) {
    GeneratorModel::Parts parts;
    parts.model = SmallModel(limits.running, chunk);
    parts.info.tokenizer = ByteTokenizer();
    parts.info.eos = {256};
    parts.info.context = 128;
    parts.limits = limits;
    parts.executor = scheduler->executor();
    ModelConfig config;
    config.name = "m";
    DescribeGenerator(config);
    version = std::make_shared<GeneratorModel>(std::move(config), "1", std::move(parts));
  }
  ~Generator() { version->Drain(std::chrono::milliseconds(0), true); }
  Status Start(const TestGeneration& g) { return version->Generate({g.generation}); }
  std::vector<int64_t> TokensOf(TestGeneration g) {
    EXPECT_TRUE(Start(g).ok());
    g.sink->Wait();
    EXPECT_TRUE(g.sink->status_.ok()) << g.sink->status_.ToString();
    return g.sink->tokens_;
  }
};

TEST(GenerationEngine, TheSmallModelRunsBatches) {
  const auto model = SmallModel();
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->batches()) << model->why_alone();
  EXPECT_EQ(model->vocabulary(), 259);
  EXPECT_EQ(model->bytes_per_token(), 2 * 2 * 4 * sizeof(float));
  EXPECT_EQ(SmallModel(4, 32)->widths(), (std::vector<int64_t>{8, 16, 32}));
}

TEST(GenerationEngine, GivesTheSameTokensInABatchAsAlone) {
  Generator generator;
  for (const double temperature : {0.0, 1.0}) {
    std::vector<std::vector<int64_t>> alone;
    const auto make = [&](int64_t i) {
      return TestGeneration(Prompt(i, 3 + 11 * (i % 5)), 10 + 7 * (i % 4), temperature,
                            static_cast<uint64_t>(i));
    };
    for (int64_t i = 0; i < 12; ++i) alone.push_back(generator.TokensOf(make(i)));
    std::vector<TestGeneration> together;
    for (int64_t i = 0; i < 12; ++i) {
      together.push_back(make(i));
      ASSERT_TRUE(generator.Start(together.back()).ok());
    }
    for (size_t i = 0; i < 12; ++i) {
      together[i].sink->Wait();
      EXPECT_EQ(together[i].sink->tokens_, alone[i]) << "sequence " << i << ", temperature " << temperature;
      EXPECT_EQ(together[i].sink->finish_, FinishReason::kLength);
    }
    if (temperature > 0) {
      EXPECT_NE(alone[0], generator.TokensOf(TestGeneration(Prompt(0, 3), 10, 1, 77)));
    }
  }
  EXPECT_GT(generator.version->generated().step_rows.load(), generator.version->generated().steps.load());
  EXPECT_TRUE(Eventually([&] { return generator.version->Drained(); }));
  EXPECT_EQ(generator.version->statistics().Snapshot().success.count,
            generator.version->generated().ended[1]);
}

TEST(GenerationEngine, FillsTheContextExactly) {
  Generator generator;
  EXPECT_EQ(generator.TokensOf(TestGeneration(Prompt(3, 120), 8)).size(), 8U);
  EXPECT_EQ(generator.TokensOf(TestGeneration(Prompt(3, 1), 127)).size(), 127U);
  TestGeneration longer(Prompt(3, 121), 8);
  EXPECT_EQ(generator.Start(longer).code(), Code::kInvalidArgument);
  EXPECT_EQ(generator.Start(TestGeneration({}, 8)).code(), Code::kInvalidArgument);
  EXPECT_EQ(generator.Start(TestGeneration({259}, 8)).code(), Code::kInvalidArgument);
}

TEST(GenerationEngine, ReadsThePromptInParts) {
  const auto prompt = Prompt(5, 61);
  Generator parts({4, 64, 512}, 8), whole({4, 64, 512}, 32);
  EXPECT_EQ(parts.TokensOf(TestGeneration(prompt, 9)), whole.TokensOf(TestGeneration(prompt, 9)));
}

TEST(GenerationEngine, RefusesMoreThanMayWait) {
  Generator generator({1, 2, 128});
  std::vector<TestGeneration> accepted;
  int refused = 0;
  for (int64_t i = 0; i < 20; ++i) {
    TestGeneration g(Prompt(i, 4), 100);
    const Status status = generator.Start(g);
    if (status.ok()) {
      accepted.push_back(g);
      continue;
    }
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
    ++refused;
  }
  EXPECT_GE(refused, 1);
  EXPECT_GE(accepted.size(), 3U);
  for (const TestGeneration& g : accepted) {
    g.sink->Wait();
    EXPECT_EQ(g.sink->generated_, 100);
  }
}

TEST(GenerationEngine, LetsRequestsTakeTurns) {
  const EngineLimits limits{1, 16, 128};
  Generator owner(limits);
  GenerationEngine engine(SmallModel(1), ByteTokenizer(), {256}, limits, *owner.version);
  std::vector<TestGeneration> many;
  Generations group;
  for (int64_t i = 0; i < 8; ++i) {
    many.emplace_back(Prompt(i, 4), 5);
    group.push_back(many.back().generation);
  }
  TestGeneration one(Prompt(9, 4), 5);
  ASSERT_TRUE(engine.Accept(group).ok());
  ASSERT_TRUE(engine.Accept({one.generation}).ok());
  while (engine.Step(1)) {
  }
  int before = 0;
  for (const TestGeneration& g : many) {
    EXPECT_EQ(g.sink->generated_, 5);
    before += g.sink->order_ < one.sink->order_ ? 1 : 0;
  }
  EXPECT_EQ(before, 1) << "the other request's turn is second";
  for (int64_t i = 0; i < 10; ++i) group.push_back(many[0].generation);
  EXPECT_EQ(engine.Accept(group).code(), Code::kInvalidArgument) << "18 sequences never fit";
}

TEST(GenerationEngine, EndsACancelledSequenceAtTheNextToken) {
  Generator generator({1, 4, 128});
  TestGeneration running(Prompt(1, 4), 120), waiting(Prompt(2, 4), 120), late(Prompt(3, 4), 120),
      last(Prompt(4, 4), 3);
  late.generation->options.deadline = Clock::now();
  for (const TestGeneration* g : {&running, &waiting, &late, &last}) ASSERT_TRUE(generator.Start(*g).ok());
  waiting.generation->cancelled = true;
  running.generation->cancelled = true;
  last.sink->Wait();
  for (TestGeneration* g : {&running, &waiting}) {
    g->sink->Wait();
    EXPECT_TRUE(g->sink->status_.code() == Code::kCancelled || g->sink->generated_ == 120);
  }
  EXPECT_EQ(late.sink->status_.code(), Code::kUnavailable);
  EXPECT_TRUE(last.sink->status_.ok());
}

TEST(GenerationEngine, AnswersEverySequenceWhenItIsDrained) {
  Generator generator({2, 16, 256});
  std::vector<TestGeneration> all;
  for (int64_t i = 0; i < 6; ++i) {
    all.emplace_back(Prompt(i, 4), 120);
    ASSERT_TRUE(generator.Start(all.back()).ok());
  }
  generator.version->Drain(std::chrono::milliseconds(0), true);
  for (const TestGeneration& g : all) {
    g.sink->Wait();
    EXPECT_TRUE(g.sink->status_.code() == Code::kUnavailable || g.sink->generated_ == 120);
  }
  EXPECT_EQ(generator.Start(TestGeneration({1}, 1)).code(), Code::kUnavailable);
}

TEST(GenerationEngine, StopsAtATextAndAtTheEnd) {
  Generator generator;
  const auto tokens = generator.TokensOf(TestGeneration(Prompt(9, 5), 40));
  TestGeneration stopped(Prompt(9, 5), 40);
  const auto tokenizer = ByteTokenizer();
  const std::string all = *tokenizer->Decode(tokens);
  stopped.generation->options.stop = {all.substr(3, 2)};
  ASSERT_TRUE(generator.Start(stopped).ok());
  stopped.sink->Wait();
  EXPECT_EQ(stopped.sink->finish_, FinishReason::kStop);
  EXPECT_EQ(stopped.sink->text_, all.substr(0, all.find(all.substr(3, 2))));
}

TEST(GenerationEngine, CountsPromptsWithoutCompletion) {
  Generator generator;
  TestGeneration echo(Prompt(2, 20), 0);
  echo.generation->options.prompt_logprobs = true;
  ASSERT_TRUE(generator.Start(echo).ok());
  echo.sink->Wait();
  EXPECT_EQ(echo.sink->tokens_, Prompt(2, 20));
  EXPECT_EQ(echo.sink->generated_, 0);
}

}  // namespace
}  // namespace tern::server
