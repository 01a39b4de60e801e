// Tests the public API on the digit classifier as an application uses it, with only tern.hpp and the shared
// library.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <thread>

#include "bindings/test_allocations.h"
#include "tern/tern.hpp"

using tern::test::allocations;

[[gnu::noinline]] void* operator new(size_t size) {
  if (void* p = tern::test::Allocates() ? std::malloc(size ? size : 1) : nullptr) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return tern::test::Allocates() ? std::malloc(size ? size : 1) : nullptr;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace {

tern::Result<tern::Predictor> Digits() { return tern::Predictor::Create(tern::Config(TERN_DIGITS)); }

std::vector<float> Picture(int seed, int count = 1) {
  std::vector<float> pixels;
  for (int i = 0; i < count * 28 * 28; ++i)
    pixels.push_back(static_cast<float>((i * 7919 + seed * 131) % 256) / 255);
  return pixels;
}

bool Tell(const tern::Status& status, const char* words) {
  return status.message().find(words) != std::string::npos;
}

TEST(Predictor, RunsAModel) {
  auto p = Digits();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(p->InputNames(), std::vector<std::string>{"image"});
  EXPECT_EQ(p->OutputNames(), std::vector<std::string>{"probabilities"});
  tern::Tensor image = p->Input("image");
  EXPECT_EQ(image.dtype(), tern::DType::kF32);
  EXPECT_EQ(image.shape(), (tern::Shape{-1, 1, 28, 28}));
  EXPECT_TRUE(image.CopyFrom(Picture(1), {1, 1, 28, 28}).ok());
  tern::Status ran = p->Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  const std::vector<float> y = p->Output("probabilities").ToVector<float>();
  ASSERT_EQ(y.size(), 10u);
  float sum = 0;
  for (const float v : y) sum += v;
  EXPECT_NEAR(sum, 1, 1e-4);
  EXPECT_EQ(p->Output(0).data<double>(), nullptr);
}

TEST(Predictor, AgreesWithTheReference) {
  auto fast = Digits();
  auto slow = tern::Predictor::Create(tern::Config(TERN_DIGITS).reference(true));
  ASSERT_TRUE(fast.ok() && slow.ok());
  for (auto* p : {&*fast, &*slow}) {
    ASSERT_TRUE(p->Input(0).CopyFrom(Picture(3, 2), {2, 1, 28, 28}).ok());
    ASSERT_TRUE(p->Run().ok());
  }
  const auto a = fast->Output(0).ToVector<float>(), b = slow->Output(0).ToVector<float>();
  ASSERT_EQ(a.size(), 20u);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4);
}

TEST(Predictor, RoundsWhenAskedTo) {
  std::vector<float> y[2];
  for (int i = 0; i < 2; ++i) {
    auto p = tern::Predictor::Create(tern::Config(TERN_DIGITS).precision(i ? "bf16" : "fp32"));
    ASSERT_TRUE(p.ok()) << p.status().message();
    ASSERT_TRUE(p->Input(0).CopyFrom(Picture(3), {1, 1, 28, 28}).ok());
    ASSERT_TRUE(p->Run().ok());
    y[i] = p->Output(0).ToVector<float>();
  }
  EXPECT_NE(y[0], y[1]);
  for (size_t i = 0; i < y[0].size(); ++i) EXPECT_NEAR(y[0][i], y[1][i], 0.02);
  EXPECT_TRUE(tern::Predictor::Create(tern::Config(TERN_DIGITS).precision("auto")).ok());
  EXPECT_TRUE(Tell(tern::Predictor::Create(tern::Config(TERN_DIGITS).precision("fp8")).status(),
                   "invalid argument: 'fp8' is not a precision; choose fp32, fast, bf16 or auto"));
}

// The contents of the folder's only record file, and when it was written.
struct Record {
  int files = 0;
  std::string text;
  std::filesystem::file_time_type written;
};
Record RecordIn(const std::string& folder) {
  Record record;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.rfind("tuning-", 0) != 0 || entry.path().extension() != ".txt") continue;
    ++record.files;
    std::ifstream file(entry.path());
    record.text.assign(std::istreambuf_iterator<char>(file), {});
    record.written = entry.last_write_time();
  }
  return record;
}

TEST(Predictor, MeasuresKernelsWithinABudget) {
  const std::string folder = testing::TempDir() + "predictor_tuning_" + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  Record records[2];
  for (Record& record : records) {
    auto p = tern::Predictor::Create(tern::Config(TERN_DIGITS).tune_ms(20'000).cache_dir(folder));
    ASSERT_TRUE(p.ok()) << p.status().message();
    ASSERT_TRUE(p->Input(0).Reshape({2, 1, 28, 28}).ok());
    EXPECT_TRUE(p->Run().ok());
    record = RecordIn(folder);
    ASSERT_EQ(record.files, 1);
  }
  EXPECT_NE(records[0].text.find("Conv{"), std::string::npos) << records[0].text;
  EXPECT_EQ(records[1].text, records[0].text);
  EXPECT_EQ(records[1].written, records[0].written) << "the second load measured again";
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(Tell(tern::Predictor::Create(tern::Config(TERN_DIGITS).tune_ms(-1)).status(),
                   "tune_ms -1 is not between 0 and 600000"));
}

TEST(Predictor, WarnsOfMeasurementsThatAreNotKept) {
  auto p = tern::Predictor::Create(tern::Config(TERN_DIGITS).tune_ms(2000).cache_dir("/proc/nope"));
  ASSERT_TRUE(p.ok()) << p.status().message();
  ASSERT_TRUE(p->Input(0).Reshape({2, 1, 28, 28}).ok());
  EXPECT_TRUE(p->warnings().empty());
  ASSERT_TRUE(p->Run().ok());
  const std::vector<std::string> warnings = p->warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].find("measurements are not stored: cannot create folder '/proc/nope'"), 0u)
      << warnings[0];
  auto clone = p->Clone();
  ASSERT_TRUE(clone.ok());
  EXPECT_EQ(clone->warnings(), warnings) << "clones share the budget and its warnings";
}

TEST(Predictor, WarnsOfAFolderThatIsNone) {
  auto p = tern::Predictor::Create(tern::Config(TERN_DIGITS).cache_dir(TERN_DIGITS));
  ASSERT_TRUE(p.ok()) << p.status().message();
  ASSERT_EQ(p->warnings().size(), 1u);
  EXPECT_EQ(p->warnings()[0].find("measurements are not read: cannot read '" TERN_DIGITS "/tuning-"), 0u)
      << p->warnings()[0];
}

TEST(Predictor, WarnsOfAFolderThatIsNotThere) {
  const std::string folder = testing::TempDir() + "predictor_nowhere_" + std::to_string(getpid());
  auto p = tern::Predictor::Create(tern::Config(TERN_DIGITS).cache_dir(folder));
  ASSERT_TRUE(p.ok()) << p.status().message();
  ASSERT_EQ(p->warnings().size(), 1u);
  EXPECT_EQ(p->warnings()[0].find("measurements are not read: there is no folder '" + folder + "'"), 0u)
      << p->warnings()[0];
  EXPECT_FALSE(std::filesystem::exists(folder));
  std::filesystem::create_directory(folder);  // an empty folder is valid
  EXPECT_TRUE(tern::Predictor::Create(tern::Config(TERN_DIGITS).cache_dir(folder))->warnings().empty());
  std::filesystem::remove(folder);
}

TEST(Predictor, RefusesSettingsThatContradictEachOther) {
  const auto refuses = [](const tern::Config& config, const std::vector<const char*>& words) {
    const tern::Status status = tern::Predictor::Create(config).status();
    EXPECT_EQ(status.code(), tern::Code::kInvalidArgument) << words[0];
    for (const char* word : words) EXPECT_TRUE(Tell(status, word)) << word << ": " << status.message();
  };
  const std::string nul("/tmp/a\0b", 8);
  refuses(tern::Config(TERN_DIGITS).tune_ms(10).cache_dir(nul), {"cache_dir", "NUL at byte 6", "'/tmp/a'"});
  refuses(tern::Config(nul), {"model_path", "NUL at byte 6"});
  refuses(tern::Config(TERN_DIGITS).model_buffer("x", 1), {"model_buffer", "model_path", TERN_DIGITS});
  refuses(tern::Config(TERN_DIGITS).model_buffer(nullptr, 5), {"model_buffer", "5 bytes"});
  refuses(tern::Config().model_buffer(nullptr, 5), {"model_buffer", "5 bytes"});
  refuses(tern::Config(TERN_DIGITS).tune_ms(100).reference(true), {"tune_ms 100", "reference(true)"});
  refuses(tern::Config(TERN_DIGITS).cache_dir("some/where").reference(true),
          {"cache_dir 'some/where'", "reference(true)"});
  EXPECT_TRUE(tern::Predictor::Create(tern::Config(TERN_DIGITS).cache_dir("").reference(true)).ok());
  refuses(tern::Config(TERN_DIGITS).precision("bf16").reference(true),
          {"precision \"bf16\"", "reference(true)"});
  EXPECT_TRUE(tern::Predictor::Create(tern::Config(TERN_DIGITS).precision("auto").reference(true)).ok());
  EXPECT_TRUE(tern::Predictor::Create(tern::Config(TERN_DIGITS).model_buffer(nullptr, 0)).ok());
}

TEST(Predictor, SaysThatItWasMovedFrom) {
  auto p = Digits();
  ASSERT_TRUE(p.ok());
  tern::Predictor first = std::move(*p);
  tern::Predictor second = std::move(first);
  const float pixel = 0;
  tern::Tensor image = first.Input("image");
  for (const tern::Status& status :
       {first.Run(), first.Run(tern::RunOptions()), first.Clone().status(), image.status(),
        first.Input(0).status(), first.Output("probabilities").status(), first.Output(0).status(),
        image.CopyFrom(&pixel, 1), image.Reshape({1, 1, 28, 28})}) {
    EXPECT_EQ(status.code(), tern::Code::kInvalidArgument);
    EXPECT_TRUE(Tell(status, "moved from")) << status.message();
  }
  EXPECT_TRUE(first.InputNames().empty() && first.OutputNames().empty() && first.warnings().empty());
  EXPECT_EQ(image.data<float>(), nullptr);
  tern::Tensor kept = second.Input(0);
  const tern::Tensor moved = std::move(kept);
  EXPECT_EQ(kept.name(), moved.name());
  first = std::move(second);
  ASSERT_TRUE(first.Input(0).CopyFrom(Picture(1), {1, 1, 28, 28}).ok());
  EXPECT_TRUE(first.Run().ok());
}

TEST(Predictor, TakesNewShapesAndData) {
  auto p = Digits();
  ASSERT_TRUE(p.ok());
  for (const int batch : {1, 3, 2, 1}) {
    ASSERT_TRUE(p->Input(0).CopyFrom(Picture(2, batch), {batch, 1, 28, 28}).ok());
    ASSERT_TRUE(p->Run().ok());
    EXPECT_EQ(p->Output(0).shape(), (tern::Shape{batch, 10}));
  }
  const auto before = p->Output(0).ToVector<float>();
  tern::Tensor image = p->Input(0);
  for (size_t i = 0; i < image.size(); ++i) image.data<float>()[i] = 0;  // in place, between runs
  ASSERT_TRUE(p->Run().ok());
  EXPECT_NE(p->Output(0).ToVector<float>(), before);
}

TEST(Predictor, SharesTheCallersMemory) {
  auto p = Digits();
  auto q = Digits();
  ASSERT_TRUE(p.ok() && q.ok());
  std::vector<float> pixels = Picture(4);
  ASSERT_TRUE(p->Input(0).Share(pixels.data(), pixels.size() * 4, {1, 1, 28, 28}).ok());
  ASSERT_TRUE(q->Input(0).CopyFrom(pixels, {1, 1, 28, 28}).ok());
  ASSERT_TRUE(p->Run().ok() && q->Run().ok());
  EXPECT_EQ(p->Output(0).ToVector<float>(), q->Output(0).ToVector<float>());
  EXPECT_EQ(pixels, Picture(4));
  EXPECT_FALSE(p->Input(0).Share(pixels.data(), 5, {1, 1, 28, 28}).ok());
}

TEST(Predictor, RefusesMemoryThatIsNotThere) {
  auto p = Digits();
  ASSERT_TRUE(p.ok());
  const std::string name = p->InputNames()[0];
  for (const tern::Status& status : {p->Input(0).Share(nullptr, 28 * 28 * 4, {1, 1, 28, 28}),
                                     p->Input(0).CopyFrom(static_cast<const float*>(nullptr), 28 * 28)}) {
    EXPECT_EQ(status.code(), tern::Code::kInvalidArgument);
    EXPECT_TRUE(Tell(status, name.c_str()) && Tell(status, "null pointer")) << status.message();
  }
}

TEST(Predictor, ClonesRunAtTheSameTime) {
  auto p = Digits();
  ASSERT_TRUE(p.ok());
  std::vector<tern::Predictor> clones;
  for (int i = 0; i < 4; ++i) clones.push_back(std::move(*p->Clone()));
  std::vector<std::vector<float>> results(clones.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clones.size(); ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k)
        if (clones[i].Input(0).CopyFrom(Picture(7), {1, 1, 28, 28}).ok() && clones[i].Run().ok())
          results[i] = clones[i].Output(0).ToVector<float>();
    });
  for (std::thread& t : threads) t.join();
  for (const auto& r : results) EXPECT_EQ(r, results[0]);
  EXPECT_EQ(results[0].size(), 10u);
}

TEST(Predictor, RefusesASecondThread) {
  auto p = Digits();
  ASSERT_TRUE(p.ok());
  std::atomic<int> refused{0}, wrong{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto use = [&](int batch) {
    const std::vector<float> pixels = Picture(batch, batch);
    while (refused < 20 && std::chrono::steady_clock::now() < deadline) {
      tern::Status status = p->Input(0).CopyFrom(pixels, {batch, 1, 28, 28});
      if (status.ok()) status = p->Run();
      if (status.ok()) continue;
      ++(status.code() == tern::Code::kInvalidArgument && Tell(status, "another thread") ? refused : wrong);
    }
  };
  std::thread other(use, 16);
  use(32);
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(refused, 20);
  ASSERT_TRUE(p->Input(0).CopyFrom(Picture(1), {1, 1, 28, 28}).ok());
  EXPECT_TRUE(p->Run().ok());
}

TEST(Predictor, AllocatesNothingInSteadyState) {
  auto p = tern::Predictor::Create(tern::Config(TERN_DIGITS).threads(1));
  ASSERT_TRUE(p.ok());
  tern::Tensor image = p->Input(0);
  const std::vector<float> pixels = Picture(1);
  const tern::Shape shape{1, 1, 28, 28};
  std::vector<float> scores(10);
  ASSERT_TRUE(image.CopyFrom(pixels, shape).ok());
  for (const bool bound : {false, true}) {
    if (bound) {
      ASSERT_TRUE(p->Output(0).Bind(scores.data(), 40, {1, 10}).ok());
    }
    ASSERT_TRUE(p->Run().ok());
    const long before = allocations;
    bool ok = true;
    for (int i = 0; i < 5; ++i)
      ok &= image.CopyFrom(pixels, shape).ok() && p->Run().ok() && p->Output(0).data<float>();
    EXPECT_TRUE(ok);
    EXPECT_EQ(allocations - before, 0);
  }
}

TEST(Predictor, HandlesOutliveTheirPredictor) {
  auto p = std::make_unique<tern::Result<tern::Predictor>>(Digits());
  tern::Tensor image = (*p)->Input(0);
  ASSERT_TRUE(image.CopyFrom(Picture(1), {1, 1, 28, 28}).ok());
  p.reset();
  EXPECT_EQ(image.size(), 28u * 28u);
}

TEST(Predictor, LoadsFromMemory) {
  std::ifstream file(TERN_DIGITS, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto p = tern::Predictor::Create(tern::Config().model_buffer(bytes.data(), bytes.size()));
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_FALSE(tern::Predictor::Create(tern::Config().model_buffer(bytes.data(), bytes.size() / 2)).ok());
}

// The bytes of an ONNX model with one node, which is named "spin" and computes y, all = Loop(_, go, x). The
// loop's body returns its condition unchanged, so the loop never ends if `go` is true. The body also collects
// its state x in `all`.
const char kEndless[] =
    "\010\010\022\000:\215\002\012\277\001\012\000\012\002go\012\001x\022\001y\022\003all\032\004spin\""
    "\004Loop*\237\001\012\004body2\223\001\012\020\012\001c\022\001d\"\010Identity\012\020\012\001s\022"
    "\001t\"\010Identity\012\020\012\001s\022\001u\"\010Identity\022\001bZ\013\012\001i\022\006\012\004"
    "\010\007\022\000Z\013\012\001c\022\006\012\004\010\011\022\000Z\017\012\001s\022\012\012\010\010\001"
    "\022\004\012\002\010\004b\013\012\001d\022\006\012\004\010\011\022\000b\017\012\001t\022\012\012\010"
    "\010\001\022\004\012\002\010\004b\017\012\001u\022\012\012\010\010\001\022\004\012\002\010\004\240"
    "\001\005\022\001gZ\014\012\002go\022\006\012\004\010\011\022\000Z\017\012\001x\022\012\012\010\010"
    "\001\022\004\012\002\010\004b\017\012\001y\022\012\012\010\010\001\022\004\012\002\010\004b\026\012"
    "\003all\022\017\012\015\010\001\022\011\012\003\022\001n\012\002\010\004B\004\012\000\020\020";

tern::Result<tern::Predictor> Endless(size_t collect_limit, bool go) {
  auto p = tern::Predictor::Create(
      tern::Config().model_buffer(kEndless, sizeof kEndless - 1).collect_limit(collect_limit));
  if (!p.ok()) return p;
  if (tern::Status fed = p->Input("go").CopyFrom(&go, 1); !fed.ok()) return fed;
  if (tern::Status fed = p->Input("x").CopyFrom(std::vector<float>{1, 2, 3, 4}); !fed.ok()) return fed;
  return p;
}

TEST(Predictor, RunsEndWhenTheyAreTold) {
  auto p = Endless(size_t{1} << 40, true);
  ASSERT_TRUE(p.ok()) << p.status().message();
  tern::RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  tern::Status ran = p->Run(options);
  EXPECT_EQ(ran.code(), tern::Code::kCancelled);
  EXPECT_TRUE(Tell(ran, "deadline") && Tell(ran, "spin")) << ran.message();
  std::atomic<bool> cancel{false};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancel = true;
  });
  options = {};
  options.cancel = &cancel;
  ran = p->Run(options);
  other.join();
  EXPECT_EQ(ran.code(), tern::Code::kCancelled);
  EXPECT_EQ(p->Output("y").raw(), nullptr);
  const bool go = false;
  ASSERT_TRUE(p->Input("go").CopyFrom(&go, 1).ok());
  options.timeout = std::chrono::nanoseconds::max();
  options.cancel = nullptr;
  ran = p->Run(options);
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_EQ(p->Output("y").ToVector<float>(), (std::vector<float>{1, 2, 3, 4}));
  options.timeout = std::chrono::nanoseconds(-1);
  ran = p->Run(options);
  EXPECT_EQ(ran.code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(Tell(ran, "timeout") && Tell(ran, "-1 ns") && Tell(ran, "0 (no limit)")) << ran.message();
}

// A shape with -1 for open dims, as shape() returns it before feeding, is an error.
TEST(Predictor, OpenDimsMustBeGiven) {
  auto p = Endless(1, false);
  ASSERT_TRUE(p.ok()) << p.status().message();
  std::vector<float> four(4);
  for (const tern::Status& status : {p->Input("x").CopyFrom(four, {-1, 4}), p->Input("x").Reshape({4, -1}),
                                     p->Input("x").Share(four.data(), 16, {-1})})
    EXPECT_TRUE(Tell(status, "'x'") && Tell(status, "-1") && Tell(status, "every dim must be given"))
        << status.message();
  EXPECT_FALSE(Tell(p->Input("x").CopyFrom(four, {3}), "every dim"));
}

TEST(Predictor, ALoopGathersNoMoreThanItMay) {
  auto p = Endless(100000, true);
  ASSERT_TRUE(p.ok()) << p.status().message();
  const tern::Status ran = p->Run();
  EXPECT_EQ(ran.code(), tern::Code::kResourceExhausted);
  EXPECT_TRUE(Tell(ran, "spin") && Tell(ran, "100000") && Tell(ran, "iterations")) << ran.message();
}

TEST(Predictor, ExplainsMistakes) {
  EXPECT_TRUE(Tell(tern::Predictor::Create(tern::Config("none.onnx")).status(), "none.onnx"));
  EXPECT_EQ(tern::Predictor::Create(tern::Config()).status().code(), tern::Code::kInvalidArgument);
  EXPECT_EQ(tern::Predictor::Create(tern::Config("none.onnx")).status().code(), tern::Code::kNotFound);
  for (const int threads : {-3, 1025, 1000000})
    EXPECT_TRUE(Tell(tern::Predictor::Create(tern::Config(TERN_DIGITS).threads(threads)).status(),
                     "invalid argument: threads must be 0 (one per core) or up to 1024, got"));
  EXPECT_TRUE(Tell(tern::Predictor::Create(tern::Config(TERN_DIGITS).plan_cache(0)).status(),
                   "plan_cache must be at least 1, got 0"));
  auto p = Digits();
  ASSERT_TRUE(p.ok());
  EXPECT_TRUE(Tell(p->Run(), "image"));  // not fed
  EXPECT_TRUE(Tell(p->Input("picture").status(), "not found: "));
  EXPECT_TRUE(Tell(p->Input("picture").status(), "image"));
  EXPECT_FALSE(p->Input("picture").CopyFrom(Picture(1)).ok());
  EXPECT_EQ(p->Input("picture").data<float>(), nullptr);
  EXPECT_FALSE(p->Output(5).status().ok());
  EXPECT_TRUE(Tell(p->Input(0).CopyFrom(std::vector<double>(784), {1, 1, 28, 28}), "f64"));
  EXPECT_TRUE(Tell(p->Input(0).CopyFrom(Picture(1), {2, 1, 28, 28}), "784"));
  EXPECT_TRUE(Tell(p->Input(0).CopyFrom(Picture(1)), "Reshape"));
  EXPECT_FALSE(p->Input(0).Reshape({-1, 1}).ok());
  EXPECT_FALSE(p->Input(0).Reshape({int64_t{1} << 40, int64_t{1} << 40}).ok());
  EXPECT_TRUE(
      Tell(p->Input(0).CopyFrom(std::vector<bool>(784), {1, 1, 28, 28}), "invalid argument: input 'image'"));
  EXPECT_TRUE(Tell(p->Output(0).CopyFrom(Picture(1)), "invalid argument: output 'probabilities'"));
  EXPECT_EQ(p->Output(0).raw(), nullptr);  // no run yet
  ASSERT_TRUE(p->Input(0).Reshape({1, 1, 28, 29}).ok());
  EXPECT_TRUE(Tell(p->Run(), "29"));
  EXPECT_EQ(p->Output(0).raw(), nullptr);
}

TEST(Predictor, FeedsFixedShapesWithoutSayingThem) {
  auto p = Digits();
  ASSERT_TRUE(p.ok());
  ASSERT_TRUE(p->Input(0).Reshape({1, 1, 28, 28}).ok());
  EXPECT_TRUE(p->Input(0).CopyFrom(Picture(1)).ok());
  EXPECT_TRUE(p->Run().ok());
}

}  // namespace
