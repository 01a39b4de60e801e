#include "runtime/exec/session.h"

#include <thread>

#include "runtime/test_support.h"

namespace tern {
namespace {

constexpr const char* kAddOne = R"(graph @g(%x: f32[N,4], %b: f32[N,4]) -> (%y) {
  %s = %x + %b
  %y = Relu(%s)
})";

std::string ErrorOf(Session& session, const DatumList& inputs) {
  auto result = session.Run(inputs);
  return result.ok() ? "no error" : result.status().message();
}

TEST(Session, RunsManyShapesWithABoundedCache) {
  SessionOptions options;
  options.plan_cache = 3;
  auto session = SessionOf(ParseOrDie(kAddOne), options);
  for (int64_t n = 50; n >= 0; --n) ExpectLikeReference(*session, {Counting({n, 4}), Counting({n, 4})});
  EXPECT_EQ(session->PlanCount(), 3);
  EXPECT_EQ(session->PlansMade(), 51);
  EXPECT_LE(session->Memory().arena, 2 * 50u * 4 * 4 + 64);
  ExpectLikeReference(*session, {Counting({1, 4}), Counting({1, 4})});
  EXPECT_EQ(session->PlansMade(), 51) << "a cached plan was not found";
}

// The model is valid, but the sizes that the caller chose for its unknown dims are invalid.
TEST(Session, BlamesTheInputsForTheirSizes) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[?,4], %b: f32[?,4]) -> (%y) {
    %y = Binary(%x, %b) {kind="add"} as "sum"
  })"));
  auto result = session->Run(DatumList{Counting({2, 4}), Counting({3, 4})});
  EXPECT_EQ(result.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(
      result.status().message().find("the model does not run with these dims: input 'x' got f32[2,4] for "
                                     "f32[?,4], input 'b' got f32[3,4] for f32[?,4]; node 'sum'"),
      0u)
      << result.status().message();
  auto fixed =
      SessionOf(ParseOrDie("graph @g(%x: f32[N,4]) -> (%y) { #s: i64[2] = (1, 4) %y = Reshape(%x, #s) }"));
  result = fixed->Run(DatumList{Counting({2, 4})});
  EXPECT_EQ(result.status().code(), Code::kInvalidArgument) << result.status().ToString();
  EXPECT_NE(result.status().message().find("input 'x' got f32[2,4] for f32[N,4]"), std::string::npos);
}

TEST(Session, RefusesWhatDoesNotFit) {
  auto session = SessionOf(ParseOrDie(kAddOne));
  const std::string sizes = ErrorOf(*session, {Counting({2, 4}), Counting({3, 4})});
  EXPECT_EQ(sizes.find("input 'b': dimension 0 (N) is 3, but input 'x' has 2 for N in dimension 0; b is "
                       "f32[N,4]; therefore: "),
            0u)
      << sizes;
  EXPECT_EQ(ErrorOf(*session, {Counting({2, 5}), Counting({2, 4})}),
            "input 'x' must be f32[N,4], got f32[2,5]: dimension 1 is 5 instead of 4");
  EXPECT_EQ(ErrorOf(*session, {Counting({4}), Counting({2, 4})}),
            "input 'x' must be f32[N,4], got f32[4]: rank 1 instead of 2");
  EXPECT_EQ(ErrorOf(*session, {Tensor(DType::kI32, {2, 4}), Counting({2, 4})}),
            "input 'x' must be f32[N,4], got i32[2,4]");
  EXPECT_EQ(ErrorOf(*session, {Datum::None(), Counting({2, 4})}), "input 'x' must be f32[N,4], got none");
  EXPECT_EQ(ErrorOf(*session, {Counting({2, 4})}), "the model takes 2 inputs ('x', 'b'), got 1");
  auto named = session->Run(NamedData{{"x", Counting({2, 4})}, {"c", Counting({2, 4})}});
  EXPECT_EQ(named.status().message(), "the model has no input 'c'; it has 'x', 'b'");
  auto missing = session->Run(NamedData{{"x", Counting({2, 4})}});
  EXPECT_EQ(missing.status().message(), "input 'b' (f32[N,4]) was not fed");
  ExpectLikeReference(*session, {Counting({2, 4}), Counting({2, 4})});
}

TEST(Session, RefusesUnequalSizesOfExactSymbols) {
  const std::string body = R"( %p = Reduce(%x) {kind="sum"} %q = Reduce(%b) {kind="sum"} %y = %p + %q })";
  const std::string inputs = "graph @g(%x: f32[N,4], %b: f32[N,4], %c: f32[N+1]) -> (%y) {";
  const std::string exact = R"( meta "tern:symbols" = "exact" )";
  auto any = SessionOf(ParseOrDie(inputs + body));
  ExpectLikeReference(*any, {Counting({2, 4}), Counting({3, 4}), Counting({4})});
  auto session = SessionOf(ParseOrDie(inputs + exact + body));
  for (int64_t n : {2, 5}) {
    ExpectLikeReference(*session, {Counting({n, 4}), Counting({n, 4}), Counting({n + 1})});
    EXPECT_EQ(ErrorOf(*session, {Counting({n, 4}), Counting({3, 4}), Counting({n + 1})}),
              StrCat("input 'b': dimension 0 (N) is 3, but input 'x' has ", n,
                     " for N in dimension 0; b is f32[N,4]"));
    EXPECT_EQ(
        ErrorOf(*session, {Counting({n, 4}), Counting({n, 4}), Counting({n})}),
        StrCat("input 'c' must be f32[N+1], got f32[", n, "]: dimension 0 is ", n, " instead of ", n + 1));
  }
}

// A plan serves sequences of all element types, so the second run must check them as well.
TEST(Session, ChecksElementsOfSequencesInEveryRun) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%s: seq(f32[?]), %x: f32[2]) -> (%y) {
    #zero: i64[] = (0)
    %y = SequenceAt(%s, #zero) + %x
  })"));
  const Datum good = Datum::SequenceOf({Counting({2})});
  const Datum wrong = Datum::SequenceOf({Counting({2}), Tensor(DType::kI32, {2})});
  const Datum nested = Datum::SequenceOf({good});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(ErrorOf(*session, {good, Counting({2})}), "no error") << run;
    EXPECT_EQ(ErrorOf(*session, {wrong, Counting({2})}),
              "input 's' must be seq(f32[?]), got sequence of 2 with element i32[2]");
    EXPECT_EQ(ErrorOf(*session, {nested, Counting({2})}),
              "input 's' must be seq(f32[?]), got sequence of 1 with element sequence of 1");
    EXPECT_EQ(ErrorOf(*session, {Counting({2}), Counting({2})}), "input 's' must be seq(f32[?]), got f32[2]");
  }
}

TEST(Session, ChecksKeysAndValuesOfMapsInEveryRun) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%m: map(i64, f32[])) -> (%y) {
    %y = CastMap(%m)
  })"));
  const Datum good = Datum::MapOf(Tensor::Ints({3}), {Tensor::Scalar(DType::kF32, 2)});
  const Datum wrong = Datum::MapOf(Tensor::Ints({3}), {Tensor::Scalar(DType::kF64, 2)});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(ErrorOf(*session, {good}), "no error") << run;
    EXPECT_NE(ErrorOf(*session, {wrong}).find("input 'm' must be map(i64,f32[])"), std::string::npos)
        << ErrorOf(*session, {wrong});
  }
}

TEST(Session, CachedPlansHoldNoInputs) {
  auto session = SessionOf(ParseOrDie(kAddOne));
  const auto owner = std::make_shared<std::vector<float>>(8);
  const Buffer bytes = Buffer::Borrow(owner->data(), 32, owner);
  ASSERT_TRUE(session->Run(DatumList{Tensor::View(bytes, DType::kF32, {2, 4}), Counting({2, 4})}).ok());
  EXPECT_GT(owner.use_count(), 2);
  ASSERT_TRUE(session->Run(DatumList{Counting({3, 4}), Counting({3, 4})}).ok());
  EXPECT_EQ(owner.use_count(), 2) << "only the test and its buffer refer to the bytes";
}

TEST(Session, AcceptsOneSymbolWithTwoSizesWhereNodesBroadcast) {
  auto session = SessionOf(ParseOrDie(kAddOne));
  ExpectLikeReference(*session, {Counting({2, 4}), Counting({1, 4})});
  ExpectLikeReference(*session, {Counting({1, 4}), Counting({3, 4})});
}

TEST(Session, LimitsTheMemoryOfARun) {
  SessionOptions options;
  options.memory_limit = 1000;
  auto session = SessionOf(ParseOrDie(kAddOne), options);
  ExpectLikeReference(*session, {Counting({2, 4}), Counting({2, 4})});
  const std::string error = ErrorOf(*session, {Counting({1000, 4}), Counting({1000, 4})});
  EXPECT_NE(error.find("the limit is 1000"), std::string::npos) << error;
}

TEST(Session, WritesToBoundOutputs) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N,4]) -> (%y, %v, %x) {
    #shape: i64[1] = (-1)
    %y = Relu(%x)
    %v = Reshape(%y, #shape)
  })"));
  const Tensor x = Counting({2, 4}), y(DType::kF32, {2, 4}), v(DType::kF32, {8}), z(DType::kF32, {2, 4});
  ASSERT_TRUE(session->BindInput(0, x).ok());
  for (const auto& [i, t] : {std::pair(0, y), std::pair(1, v), std::pair(2, z)})
    ASSERT_TRUE(session->BindOutput(i, t).ok());
  for (int round = 0; round < 2; ++round) {
    const Status status = session->Run();
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(ToDoubles(y), (std::vector<double>{0, 0, 0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(ToDoubles(v), ToDoubles(y));
    EXPECT_EQ(ToDoubles(z), ToDoubles(x));
  }
  ASSERT_TRUE(session->BindOutput(0, Tensor()).ok());
  ASSERT_TRUE(session->Run().ok());
  EXPECT_NE(session->Output(0).tensor.raw(), y.raw());
  EXPECT_EQ(ToDoubles(session->Output(0).tensor), ToDoubles(y));
  ASSERT_TRUE(session->BindOutput(0, Tensor(DType::kF32, {8})).ok());
  EXPECT_EQ(session->Run().message(), "output 'y' is f32[2,4], but the bound tensor is f32[8]");
}

TEST(Session, PlansOutputsBeforeTheRun) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N,4]) -> (%y, %n) {
    %y = Relu(%x)
    %n = NonZero(%x)
  })"));
  ASSERT_TRUE(session->BindInput(0, Counting({2, 4})).ok());
  EXPECT_FALSE(session->PlannedOutput(0).defined()) << "nothing is prepared";
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(session->Prepare().ok());
    EXPECT_EQ(session->PlannedOutput(0).dims(), (Dims{2, 4}));
    EXPECT_EQ(session->PlannedOutput(0).dtype(), DType::kF32);
    EXPECT_FALSE(session->PlannedOutput(1).defined()) << "its size depends on the data";
    ASSERT_TRUE(session->Run().ok());
  }
}

TEST(Session, RunsWithFewerThreadsOnTheSamePlans) {
  auto session = SessionOf(ParseOrDie("graph @g(%x: f32[N,64]) -> (%y) { %y = Relu(%x) }"));
  ASSERT_TRUE(session->BindInput(0, Counting({512, 64})).ok());
  ASSERT_TRUE(session->Run().ok());
  const std::vector<double> expected = ToDoubles(session->Output(0).tensor);
  for (const int threads : {1, 0, 1000, 1, -1}) {
    session->SetThreads(threads);
    ASSERT_TRUE(session->Run().ok());
    EXPECT_EQ(ToDoubles(session->Output(0).tensor), expected) << threads;
  }
  EXPECT_EQ(session->PlansMade(), 1);
}

TEST(Session, TakesStridedInputs) {
  auto session = SessionOf(ParseOrDie("graph @g(%x: f32[2,3]) -> (%y) { %y = Relu(%x) }"));
  const Tensor base = Counting({3, 2});
  const Tensor transposed = Tensor::View(base.buffer(), DType::kF32, {2, 3}, {1, 2});
  auto got = session->Run(DatumList{transposed});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(ToDoubles((*got)[0].tensor), (std::vector<double>{0, 0, 2, 0, 1, 3}));
}

TEST(Session, FeedsOverridableConstants) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[2]) -> (%y) {
    overridable #k: f32[2] = (10, 20)
    %y = %x + #k
  })"));
  auto plain = session->Run(NamedData{{"x", Counting({2}, 1)}});
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  EXPECT_EQ(ToDoubles((*plain)[0].tensor), (std::vector<double>{11, 22}));
  for (int round = 0; round < 2; ++round) {
    auto fed = session->Run(NamedData{{"x", Counting({2}, 1)}, {"k", Counting({2}, 5)}});
    ASSERT_TRUE(fed.ok()) << fed.status().ToString();
    EXPECT_EQ(ToDoubles((*fed)[0].tensor), (std::vector<double>{6, 8}));
  }
  auto again = session->Run(NamedData{{"x", Counting({2}, 1)}});
  EXPECT_EQ(ToDoubles((*again)[0].tensor), (std::vector<double>{11, 22}));
}

TEST(Session, ClonesRunAtTheSameTime) {
  auto first = SessionOf(ParseOrDie(kAddOne));
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Session>> clones;
  for (int t = 0; t < 4; ++t) clones.push_back(first->Clone());
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t n = 1; n < 30; ++n)
        ExpectLikeReference(*clones[static_cast<size_t>(t)], {Counting({n + t, 4}), Counting({n + t, 4}, n)});
    });
  }
  for (auto& t : threads) t.join();
}

class Recorder : public RunObserver {
 public:
  void OnStep(const StepEvent& e) override {
    names.push_back(StrCat(e.step, " ", e.node->op->name, " ", e.kernel));
    EXPECT_GE(e.nanoseconds, 0);
  }
  std::vector<std::string> names;
};

TEST(Session, TellsAnObserverEachStep) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[4]) -> (%z) {
    %y = Relu(%x)
    %z = %y + %y
  })"));
  Recorder recorder;
  session->SetObserver(&recorder);
  ASSERT_TRUE(session->Run(DatumList{Counting({4})}).ok());
  session->SetObserver(nullptr);
  ASSERT_TRUE(session->Run(DatumList{Counting({4})}).ok());
  EXPECT_EQ(recorder.names.size(), 2u);
  EXPECT_EQ(recorder.names[0].substr(0, 8), "0 Unary ");
  EXPECT_EQ(session->Steps().size(), 2u);
}

TEST(Session, NamesWhatFallsBackToTheReference) {
  const char* text = "graph @g(%x: f32[4]) -> (%y) { %y = Relu(%x) as \"layer\" }";
  SessionOptions options;
  options.reference = true;
  auto slow = SessionOf(ParseOrDie(text), options);
  ExpectLikeReference(*slow, {Counting({4})});
  ASSERT_EQ(slow->Fallbacks().size(), 1u);
  EXPECT_EQ(slow->Fallbacks()[0].op, "Unary");
  EXPECT_NE(slow->Fallbacks()[0].node.find("layer"), std::string::npos);
  auto fast = SessionOf(ParseOrDie(text));
  ExpectLikeReference(*fast, {Counting({4})});
  EXPECT_TRUE(fast->Fallbacks().empty());
}

}  // namespace
}  // namespace tern
