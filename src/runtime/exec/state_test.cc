// Tests states, which persist between the runs of a session.
#include <cmath>

#include "runtime/memory/allocation_counter.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

const Tensor& First(const Session& session) { return session.Output(0).tensor; }

// Binds `fed` to the inputs that are not states, then runs the session.
Status RunWith(Session& session, const DatumList& fed) {
  size_t next = 0;
  for (int i = 0; i < session.InputCount(); ++i)
    if (!session.IsStateInput(i)) TERN_TRY(session.BindInput(i, fed[next++]));
  return session.Run();
}

constexpr char kCounter[] = R"(graph @g(%x: f32[2], %h: f32[2]) -> (%y, %next) {
  state %h -> %next
  %next = %h + %x
  %y = %next + %next
})";

TEST(State, OfFixedSizeStartsAsZerosAndIsReadByTheNextRun) {
  auto session = SessionOf(ParseOrDie(kCounter), {});
  for (int run = 1; run <= 5; ++run) {
    ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {2}, {1, 10})}).ok());
    EXPECT_EQ(ToDoubles(First(*session)), (std::vector<double>{2.0 * run, 20.0 * run}));
  }
  EXPECT_EQ(session->PlansMade(), 1);
  const auto value = session->GetState("h");
  ASSERT_TRUE(value.ok()) << value.status().ToString();
  EXPECT_EQ(ToDoubles(*value), (std::vector<double>{5, 50}));
  auto clone = session->Clone();
  ASSERT_TRUE(RunWith(*clone, {Tensor::Of(DType::kF32, {2}, {1, 10})}).ok());
  EXPECT_EQ(ToDoubles(First(*clone)), (std::vector<double>{2, 20})) << "a clone has its own state";
  session->ResetState();
  ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {2}, {3, 3})}).ok());
  EXPECT_EQ(ToDoubles(First(*session)), (std::vector<double>{6, 6}));
  ASSERT_TRUE(session->SetState("h", Tensor::Of(DType::kF32, {2}, {100, 200})).ok());
  ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {2}, {1, 1})}).ok());
  EXPECT_EQ(ToDoubles(First(*session)), (std::vector<double>{202, 402}));
  EXPECT_FALSE(session->SetState("h", Tensor::Of(DType::kF32, {3}, {1, 2, 3})).ok());
  EXPECT_FALSE(session->SetState("none", Tensor::Of(DType::kF32, {2}, {1, 2})).ok());
}

TEST(State, IsNeitherFedNorBound) {
  auto session = SessionOf(ParseOrDie(kCounter), {});
  const Tensor two = Tensor::Of(DType::kF32, {2}, {1, 2});
  EXPECT_EQ(session->BindInput(1, two).code(), Code::kInvalidArgument);
  EXPECT_EQ(session->BindOutput(1, two).code(), Code::kInvalidArgument);
  const auto got = session->Run(NamedData{{"x", two}});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(ToDoubles((*got)[0].tensor), (std::vector<double>{2, 4}));
  EXPECT_EQ((*got)[1].kind, Datum::Kind::kEmpty);
}

TEST(State, AcceptsAnotherBatchSizeAfterAReset) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[B,2], %h: f32[B,2]) -> (%y, %next) {
    state %h -> %next
    %next = %h + %x
    %y = Relu(%next)
  })"));
  for (int64_t batch : {1, 3, 3, 2}) {
    session->ResetState();
    for (int run = 1; run <= 2; ++run) {
      ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {batch, 2},
                                                std::vector<double>(static_cast<size_t>(2 * batch), 1))})
                      .ok());
      EXPECT_EQ(ToDoubles(First(*session)), std::vector<double>(static_cast<size_t>(2 * batch), run));
    }
    EXPECT_EQ(session->GetState("h")->dims(), Dims({batch, 2}));
    EXPECT_FALSE(session->SetState("h", Tensor(DType::kF32, {batch + 1, 2})).ok());
  }
  const Tensor three = Tensor::Of(DType::kF32, {3, 2}, {1, 1, 1, 1, 1, 1});
  const Status status = RunWith(*session, {three});
  EXPECT_FALSE(status.ok()) << "the state has a batch of 2";
  session->ResetState();
  EXPECT_TRUE(RunWith(*session, {three}).ok());
}

TEST(State, WhosePresentHasOtherDimsIsRefused) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N], %h: f32[K]) -> (%y, %next) {
    state %h -> %next
    %next = Concat(%h, %h) {axis=0}
    %y = Relu(%x)
  })"));
  const Status status = RunWith(*session, {Tensor::Of(DType::kF32, {1}, {1})});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("state 'h' is f32[1] and becomes f32[2]"), std::string::npos)
      << status.ToString();
}

TEST(State, GrowsByALengthThatDependsOnData) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N], %past: i64[P]) -> (%y, %present) {
    state %past -> %present {axis=0}
    #flat: i64[1] = (-1)
    %present = Concat(%past, Reshape(NonZero(%x), #flat)) {axis=0}
    %y = Relu(%x)
  })"));
  ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {4}, {0, 1, 0, 1})}).ok());
  ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {3}, {0, 0, 1})}).ok());
  ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {3}, {0, 0, 0})}).ok());
  EXPECT_EQ(ToLongs(*session->GetState("past")), (std::vector<int64_t>{1, 3, 2}));
  EXPECT_EQ(session->StateLength(), 3);
}

// The graph computes the sum of all rows so far. It counts the rows with Shape.
constexpr char kGrowing[] = R"(graph @g(%x: f32[N,3], %past: f32[P,3]) -> (%sum, %count, %present) {
  state %past -> %present {axis=0}
  #axes: i64[1] = (0)
  %present = Concat(%past, %x) {axis=0}
  %sum = Reduce(%present, #axes) {kind="sum", keep_dims=false}
  %shape = Shape(%present)
  %count = Cast(%shape) {to="f32"}
})";

TEST(State, GrowsInOnePlanForAllLengths) {
  auto session = SessionOf(ParseOrDie(kGrowing), {});
  double sum = 0;
  int64_t rows = 0;
  for (int run = 0; run < 200; ++run) {
    const int64_t n = run == 0 ? 4 : 1;
    Tensor x(DType::kF32, {n, 3});
    for (int64_t i = 0; i < 3 * n; ++i) x.data<float>()[i] = static_cast<float>(run + 1);
    const Status status = RunWith(*session, {x});
    ASSERT_TRUE(status.ok()) << status.ToString();
    sum += static_cast<double>(n) * (run + 1), rows += n;
    EXPECT_EQ(ToDoubles(First(*session)), std::vector<double>(3, sum)) << run;
    EXPECT_EQ(ToDoubles(session->Output(1).tensor), (std::vector<double>{static_cast<double>(rows), 3}))
        << run;
  }
  EXPECT_LE(session->PlansMade(), 3);
  EXPECT_TRUE(session->Warnings().empty()) << session->Warnings()[0];
  EXPECT_EQ(session->GetState("past")->dims(), Dims({rows, 3}));
}

TEST(State, BeyondALengthRangeGetsAnotherPlan) {
  auto session = SessionOf(ParseOrDie(kGrowing), {});
  ASSERT_TRUE(session->SetState("past", Tensor(DType::kF32, {2050, 3})).ok());
  for (int run = 0; run < 20; ++run)
    ASSERT_TRUE(RunWith(*session, {Tensor::Of(DType::kF32, {1, 3}, {1, 1, 1})}).ok());
  EXPECT_EQ(ToDoubles(First(*session)), std::vector<double>(3, 20));
  EXPECT_LE(session->PlansMade(), 3);
}

// One decoder layer. Its states are the keys and values of all tokens so far.
constexpr char kAttention[] =
    R"(graph @g(%q: f32[B,4,N,8], %k: f32[B,2,N,8], %v: f32[B,2,N,8], %pk: f32[B,2,P,8], %pv: f32[B,2,P,8]) -> (%y, %nk, %nv) {
  state %pk -> %nk {axis=2}
  state %pv -> %nv {axis=2}
  %y, %nk, %nv = Attention(%q, %k, %v, _, %pk, %pv) {causal=true}
})";

void ExpectAttentionLikeReference(int64_t batch, int threads, bool allocations) {
  const std::shared_ptr<const Graph> graph = ParseOrDie(kAttention);
  SessionOptions options;
  options.threads = threads;
  auto session = SessionOf(graph, options);
  Tensor pk(DType::kF32, {batch, 2, 0, 8}), pv = pk;
  for (int run = 0; run < 150; ++run) {
    const int64_t n = run == 0 ? 5 : 1;
    const DatumList fed{Noise({batch, 4, n, 8}, 3 * run), Noise({batch, 2, n, 8}, 3 * run + 1),
                        Noise({batch, 2, n, 8}, 3 * run + 2)};
    DatumList all = fed;
    all.push_back(pk), all.push_back(pv);
    const auto want = EvaluateGraph(*graph, all);
    ASSERT_TRUE(want.ok()) << want.status().ToString();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->BindInput(i, fed[static_cast<size_t>(i)]).ok());
    int count = 0;
    {
      AllocationCounter counter;
      const Status status = session->Run();
      count = counter.count();
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    const bool grows =
        ((run + 4) & (run + 3)) == 0;  // the length of the past is a power of two, so its memory is full
    if (allocations && run > 4 && !grows) {
      EXPECT_EQ(count, 0) << "run " << run;
    }
    const auto got = ToDoubles(First(*session)), expected = ToDoubles((*want)[0].tensor);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5) << run << " " << i;
    pk = (*want)[1].tensor, pv = (*want)[2].tensor;
  }
  EXPECT_LE(session->PlansMade(), 3);
  const auto state = session->GetState("pk");
  ASSERT_TRUE(state.ok());
  EXPECT_TRUE(SameTensor(*state, pk));
}

TEST(State, OfAttentionIsAppendedTo) {
  for (int64_t batch : {1, 3})
    for (int threads : {1, 2}) ExpectAttentionLikeReference(batch, threads, true);
}

TEST(State, IsFoundByName) {
  const auto text = R"(graph @g(%x: f32[1,N], %past_key_values.0.key: f32[1,P]) -> (%y, %present.0.key) {
    %present.0.key = Concat(%past_key_values.0.key, %x) {axis=1}
    %y = Relu(%present.0.key)
  })";
  SessionOptions options;
  options.states = "auto";
  auto parsed = ParseGraph(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  auto session = Session::Create(std::move(*parsed), options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_TRUE((*session)->IsStateInput(1));
  EXPECT_TRUE((*session)->IsStateOutput(1));
  for (int run = 1; run < 4; ++run) {
    ASSERT_TRUE(RunWith(**session, {Tensor::Of(DType::kF32, {1, 1}, {1})}).ok());
    EXPECT_EQ(First(**session).dims(), Dims({1, run}));
  }
  options.states = "past_key_values.0.key=nothing";
  auto again = ParseGraph(text);
  EXPECT_FALSE(Session::Create(std::move(*again), options).ok());
}

}  // namespace
}  // namespace tern
