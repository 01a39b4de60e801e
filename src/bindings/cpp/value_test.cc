// Tests values of every kind, bound outputs, overridable constants, run options and declared dims as an
// application uses them, with only tern.hpp and the shared library.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>

#include "bindings/test_models.h"
#include "tern/tern.hpp"

namespace {

using Kind = tern::Value::Kind;

bool Says(const tern::Status& status, const char* words) {
  return status.message().find(words) != std::string::npos;
}

tern::Value Floats(const std::vector<float>& data, const tern::Shape& shape) {
  auto made = tern::Value::TensorOf(data, shape);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *made;
}

tern::Result<tern::Predictor> Create() {
  return tern::Predictor::Create(
      tern::Config().model_buffer(tern::test::kKindsModel, sizeof tern::test::kKindsModel - 1).threads(1));
}

// Returns a predictor with the inputs x = [[1,2],[3,4]], m = {p: 5, r: 7} and s = [[9]].
tern::Result<tern::Predictor> Fed() {
  auto p = Create();
  if (!p.ok()) return p;
  if (tern::Status fed = p->Input("x").CopyFrom(std::vector<float>{1, 2, 3, 4}, {2, 2}); !fed.ok())
    return fed;
  auto m = tern::Value::MapOf(std::map<std::string, float>{{"p", 5}, {"r", 7}});
  if (!m.ok()) return m.status();
  if (tern::Status fed = p->Input("m").Set(*m); !fed.ok()) return fed;
  auto s = tern::Value::SequenceOf({Floats({9}, {1})});
  if (!s.ok()) return s.status();
  if (tern::Status fed = p->Input("s").Set(*s); !fed.ok()) return fed;
  return p;
}

TEST(Value, SequencesAndMapsGoInAndOut) {
  auto p = Fed();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_TRUE(p->Output("zip").value().empty()) << "nothing has run";
  tern::Status ran = p->Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  const tern::Value zip = p->Output("zip").value(), izip = p->Output("izip").value();
  ASSERT_EQ(zip.kind(), Kind::kSequence);
  ASSERT_EQ(zip.size(), 2u);
  EXPECT_EQ(zip.type(), "seq(map(string,f32[]))");
  const tern::Value row = zip.At(1);
  ASSERT_EQ(row.kind(), Kind::kMap);
  EXPECT_EQ(row.key_type(), tern::DType::kString);
  EXPECT_EQ(row.Keys<std::string>(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(row.Keys<int64_t>().empty());
  EXPECT_EQ((row.ToMap<std::string, float>()), (std::map<std::string, float>{{"a", 400}, {"b", 30}}));
  EXPECT_EQ((izip.At(0).ToMap<int64_t, float>()), (std::map<int64_t, float>{{3, 200}, {7, 10}}));
  EXPECT_EQ(row.Find("b").ToVector<float>(), std::vector<float>{30});
  EXPECT_EQ(izip.At(1).Find(3).ToVector<float>(), std::vector<float>{400});
  EXPECT_TRUE(row.Find("c").empty() && row.Find(3).empty() && zip.Find("b").empty());
  EXPECT_TRUE(zip.At(2).empty() && row.At(2).empty() && zip.At(0).At(0).At(0).empty());
  EXPECT_EQ(p->Output("d").ToVector<float>(), (std::vector<float>{5, 0, 7}));
  const tern::Value t = p->Output("t").value();
  ASSERT_EQ(t.size(), 2u);
  EXPECT_EQ(t.At(0).ToVector<float>(), std::vector<float>{9});
  EXPECT_EQ(t.At(1).shape(), (tern::Shape{2, 2}));
  EXPECT_EQ(p->Output("zip").raw(), nullptr);
  EXPECT_EQ(p->Output("zip").dtype(), tern::DType::kInvalid);
}

TEST(Value, OutlivesItsPredictorAndLaterRuns) {
  tern::Value zip, t, y;
  {
    auto p = Fed();
    ASSERT_TRUE(p.ok() && p->Run().ok());
    zip = p->Output("zip").value(), t = p->Output("t").value(), y = p->Output("y").value();
    ASSERT_TRUE(p->Input("x").CopyFrom(std::vector<float>{0, 0, 0, 0}).ok());
    ASSERT_TRUE(p->Run().ok());
  }
  EXPECT_EQ(zip.At(1).Find("a").ToVector<float>(), std::vector<float>{400});
  EXPECT_EQ(t.At(1).ToVector<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(y.ToVector<float>(), (std::vector<float>{10, 200, 30, 400}));
}

TEST(Value, ExplainsMistakes) {
  EXPECT_TRUE(Says(tern::Value::TensorOf(std::vector<float>{1, 2, 3}, {2, 2}).status(), "3 elements"));
  EXPECT_TRUE(Says(tern::Value::TensorOf(std::vector<float>{1}, {-1}).status(), "[-1]"));
  const tern::Value one = Floats({1}, {}), text = *tern::Value::ScalarOf(std::string("a"));
  EXPECT_TRUE(Says(tern::Value::SequenceOf({one, text}).status(), "item 1 is string[], but item 0 is f32[]"));
  EXPECT_TRUE(Says(tern::Value::SequenceOf({one, tern::Value()}).status(), "item 1 is empty"));
  EXPECT_TRUE(Says(tern::Value::MapOf(std::vector<int64_t>{1, 2}, {one}).status(), "2 keys and 1 values"));
  EXPECT_TRUE(Says(tern::Value::MapOf(std::vector<int64_t>{2, 2}, {one, one}).status(), "occurs twice"));
  EXPECT_EQ(tern::Value().type(), "unknown");
  EXPECT_EQ(tern::Value::None().kind(), Kind::kNone);
  auto p = Fed();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_TRUE(Says(p->Input("m").CopyFrom(std::vector<float>{1}, {1}), "map(string,f32[]), not a tensor"));
  EXPECT_TRUE(Says(p->Input("m").Set(tern::Value()), "empty"));
  EXPECT_TRUE(Says(p->Output("y").Set(one), "output 'y' cannot be fed"));
  ASSERT_TRUE(p->Input("m").Set(one).ok());
  EXPECT_TRUE(Says(p->Run(), "'m'")) << p->Run().message();
  ASSERT_TRUE(p->Input("m").Set(*tern::Value::MapOf(std::vector<int64_t>{1}, {one})).ok());
  EXPECT_TRUE(Says(p->Run(), "keys of type i64")) << p->Run().message();
  ASSERT_TRUE(p->Input("m").Reset().ok());
  EXPECT_TRUE(Says(p->Run(), "'m'") && Says(p->Run(), "was not fed")) << p->Run().message();
}

TEST(Value, TensorsFeedAnInputToo) {
  auto p = Fed();
  ASSERT_TRUE(p.ok());
  ASSERT_TRUE(p->Input("x").Set(Floats({5, 6}, {1, 2})).ok());
  EXPECT_EQ(p->Input("x").raw(), nullptr) << "a Value never changes";
  EXPECT_EQ(p->Input("x").shape(), (tern::Shape{1, 2}));
  ASSERT_TRUE(p->Run().ok());
  EXPECT_EQ(p->Output("y").ToVector<float>(), (std::vector<float>{50, 600}));
  const tern::Value fed = p->Input("x").value();
  ASSERT_TRUE(p->Input("x").CopyFrom(std::vector<float>{1, 1}).ok());
  EXPECT_EQ(fed.ToVector<float>(), (std::vector<float>{5, 6}));
  ASSERT_TRUE(p->Run().ok());
  EXPECT_EQ(p->Output("y").ToVector<float>(), (std::vector<float>{10, 100}));
}

TEST(BoundOutput, IsWrittenByRun) {
  auto p = Fed();
  ASSERT_TRUE(p.ok());
  std::vector<float> y(4, -1), d(3, -1);
  std::vector<int64_t> nz(8, -1);  // the size of nz depends on data, so nz is copied
  ASSERT_TRUE(p->Output("y").Bind(y.data(), 16, {2, 2}).ok());
  ASSERT_TRUE(p->Output("d").Bind(d.data(), 12, {1, 3}).ok());
  ASSERT_TRUE(p->Output("nz").Bind(nz.data(), 64, {2, 4}).ok());
  EXPECT_EQ(p->Output("y").raw(), nullptr) << "nothing has run";
  for (int run = 0; run < 2; ++run) {
    std::fill(y.begin(), y.end(), -1.f);
    tern::Status ran = p->Run();
    ASSERT_TRUE(ran.ok()) << ran.message();
    EXPECT_EQ(y, (std::vector<float>{10, 200, 30, 400}));
    EXPECT_EQ(d, (std::vector<float>{5, 0, 7}));
    EXPECT_EQ(nz, (std::vector<int64_t>{0, 0, 1, 1, 0, 1, 0, 1}));
    EXPECT_EQ(p->Output("y").raw(), y.data());
    EXPECT_EQ(p->Output("nz").raw(), nz.data());
  }
  ASSERT_TRUE(p->Output("y").Reset().ok());
  std::fill(y.begin(), y.end(), -1.f);
  ASSERT_TRUE(p->Run().ok());
  EXPECT_EQ(y, std::vector<float>(4, -1));
  EXPECT_EQ(p->Output("y").ToVector<float>(), (std::vector<float>{10, 200, 30, 400}));
}

TEST(BoundOutput, ExplainsMistakes) {
  auto p = Fed();
  ASSERT_TRUE(p.ok());
  std::vector<float> y(6);
  EXPECT_TRUE(Says(p->Output("y").Bind(y.data(), 15, {2, 2}), "output 'y': 15 bytes cannot be bound as f32"));
  EXPECT_TRUE(Says(p->Output("y").Bind(nullptr, 16, {2, 2}), "null pointer"));
  EXPECT_TRUE(Says(p->Output("y").Bind(reinterpret_cast<char*>(y.data()) + 1, 16, {2, 2}), "aligned to 4"));
  EXPECT_TRUE(Says(p->Output("zip").Bind(y.data(), 16, {2, 2}), "seq(map(string,f32[])), not a tensor"));
  EXPECT_TRUE(Says(p->Input("x").Bind(y.data(), 16, {2, 2}), "cannot be bound as an output"));
  EXPECT_TRUE(Says(p->Output("none").Bind(y.data(), 16, {2, 2}), "not found"));
  ASSERT_TRUE(p->Output("y").Bind(y.data(), 24, {3, 2}).ok());
  const tern::Status ran = p->Run();
  EXPECT_EQ(ran.code(), tern::Code::kInvalidArgument);
  EXPECT_TRUE(Says(ran, "'y' is f32[2,2]") && Says(ran, "f32[3,2]")) << ran.message();
  ASSERT_TRUE(p->Output("y").Bind(y.data(), 16, {2, 2}).ok());
  EXPECT_TRUE(p->Run().ok());
}

TEST(OverridableConstant, IsFedByNameAndRestored) {
  auto p = Fed();
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->InputNames(), (std::vector<std::string>{"x", "m", "s"}));
  EXPECT_EQ(p->OverridableNames(), std::vector<std::string>{"w"});
  tern::Tensor w = p->Input("w");
  ASSERT_TRUE(w.status().ok()) << w.status().message();
  EXPECT_EQ(w.declared_type(), "f32[2]");
  EXPECT_EQ(w.value().ToVector<float>(), (std::vector<float>{10, 100}));
  EXPECT_EQ(w.raw(), nullptr);
  std::vector<float> y(4);
  ASSERT_TRUE(p->Output("y").Bind(y.data(), 16, {2, 2}).ok());
  ASSERT_TRUE(p->Run().ok());
  ASSERT_TRUE(w.CopyFrom(std::vector<float>{1, 2}).ok());
  EXPECT_EQ(p->Output("y").value().empty(), false) << "feeding an input keeps the results";
  tern::Status ran = p->Run();
  ASSERT_TRUE(ran.ok()) << ran.message();
  EXPECT_EQ(y, (std::vector<float>{1, 4, 3, 8}));
  w.data<float>()[0] = 5;
  ASSERT_TRUE(p->Run().ok());
  EXPECT_EQ(y, (std::vector<float>{5, 4, 15, 8}));
  EXPECT_EQ((p->Output("zip").value().At(0).ToMap<std::string, float>()),
            (std::map<std::string, float>{{"a", 4}, {"b", 5}}));
  auto clone = p->Clone();
  ASSERT_TRUE(clone.ok());
  EXPECT_EQ(clone->Input("w").value().ToVector<float>(), (std::vector<float>{10, 100}))
      << "a clone does not share fed constants";
  ASSERT_TRUE(w.Reset().ok());
  ASSERT_TRUE(p->Run().ok());
  EXPECT_EQ(y, (std::vector<float>{10, 200, 30, 400}));
  ASSERT_TRUE(w.CopyFrom(std::vector<float>{1, 2, 3}, {3}).ok());
  EXPECT_TRUE(Says(p->Run(), "'w'")) << p->Run().message();
}

TEST(RunOptions, EndARunAndNameIt) {
  auto p = Fed();
  ASSERT_TRUE(p.ok());
  tern::RunOptions options;
  options.tag = "request 17";
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  tern::Status ran = p->Run(options);
  EXPECT_EQ(ran.code(), tern::Code::kCancelled);
  EXPECT_TRUE(Says(ran, "deadline") && Says(ran, "while: ") && Says(ran, "run 'request 17'"))
      << ran.message();
  options.timeout = std::chrono::hours(1);  // the earlier limit applies
  EXPECT_EQ(p->Run(options).code(), tern::Code::kCancelled);
  options.deadline = std::chrono::steady_clock::time_point::min();
  EXPECT_EQ(p->Run(options).code(), tern::Code::kCancelled);
  std::atomic<bool> cancel{true};
  options = {};
  options.cancel = &cancel;
  EXPECT_EQ(p->Run(options).code(), tern::Code::kCancelled);
  cancel = false;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_TRUE(p->Run(options).ok());
}

TEST(DeclaredDims, StayWhateverIsFed) {
  auto p = Fed();
  ASSERT_TRUE(p.ok() && p->Run().ok());
  const tern::Tensor x = p->Input("x"), nz = p->Output("nz");
  EXPECT_EQ(x.shape(), (tern::Shape{2, 2}));
  EXPECT_EQ(x.declared_rank(), 2);
  const std::vector<tern::DeclaredDim> dims = x.declared_dims();
  ASSERT_EQ(dims.size(), 2u);
  EXPECT_EQ(dims[0].value, -1);
  EXPECT_EQ(dims[0].symbol, "N");
  EXPECT_EQ(dims[1].value, 2);
  EXPECT_EQ(dims[1].symbol, "");
  EXPECT_EQ(x.declared_type(), "f32[N,2]");
  EXPECT_EQ(p->Output("y").declared_dims()[0].symbol, "N");
  ASSERT_EQ(nz.declared_rank(), 2);
  EXPECT_EQ(nz.declared_dims()[1].value, -1);
  EXPECT_EQ(p->Input("s").declared_rank(), -1);
  EXPECT_EQ(p->Input("s").declared_type(), "seq(f32[*])");
  EXPECT_TRUE(p->Output("zip").declared_dims().empty());
  EXPECT_EQ(p->Input("nothing").declared_type(), "");
}

TEST(Value, MapsConvertAsTensorsDo) {
  const auto made = tern::Value::MapOf(std::map<std::string, float>{{"a", 0.5f}, {"b", 3}});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ((made->ToMap<std::string, double>()), (std::map<std::string, double>{{"a", 0.5}, {"b", 3}}));
  std::map<std::string, int64_t> integers{{"kept", 1}};
  const tern::Status lossy = made->CopyTo(integers);
  EXPECT_EQ(lossy.message(), "entry 0 of the map: the value is f32[]; i64 does not represent every f32");
  EXPECT_EQ(integers, (std::map<std::string, int64_t>{{"kept", 1}}));
  std::map<int64_t, float> numbered;
  EXPECT_EQ(made->CopyTo(numbered).message(), "the value is map(string,f32[]); its keys are string, not i64");
  std::map<std::string, float> same;
  EXPECT_TRUE(made->CopyTo(same).ok());
  EXPECT_EQ(same.at("a"), 0.5f);

  const auto flags = tern::Value::MapOf(std::map<int64_t, bool>{{4, true}});
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ((flags->ToMap<int64_t, bool>()), (std::map<int64_t, bool>{{4, true}}));
  EXPECT_EQ((flags->ToMap<int64_t, int32_t>()), (std::map<int64_t, int32_t>{{4, 1}}));
  const auto words = tern::Value::MapOf(std::map<int64_t, std::string>{{4, "four"}});
  ASSERT_TRUE(words.ok());
  EXPECT_EQ((words->ToMap<int64_t, std::string>()), (std::map<int64_t, std::string>{{4, "four"}}));
}

TEST(Value, OnlyMapsOfSingleElementsBecomeMaps) {
  const auto pair = tern::Value::TensorOf(std::vector<float>{1, 2}, {2});
  ASSERT_TRUE(pair.ok());
  std::map<int64_t, float> out;
  EXPECT_EQ(pair->CopyTo(out).message(), "the value is f32[2], not a map");
  EXPECT_FALSE(tern::Value().CopyTo(out).ok());
  const auto pairs = tern::Value::MapOf(std::vector<int64_t>{7}, {*pair});
  ASSERT_TRUE(pairs.ok());
  EXPECT_NE(pairs->CopyTo(out).message().find("entry 0 has 2 elements"), std::string::npos)
      << pairs->CopyTo(out).message();
}

}  // namespace
