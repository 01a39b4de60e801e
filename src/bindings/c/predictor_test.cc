// Tests predictors, configs, run options and states through the C API.
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "bindings/c/test_support.h"

namespace tern::test {
namespace {

std::vector<float> Scores(const Owned<TernPredictor>& p) {
  TernPort* out = tern_predictor_output_at(p.get(), 0);
  std::vector<float> scores(tern_port_size(out));
  ExpectOk(tern_port_copy_to(out, TERN_F32, scores.data(), scores.size() * sizeof(float)));
  return scores;
}

TEST(CPredictor, RunsAModel) {
  const auto p = Digits();
  ASSERT_EQ(tern_predictor_input_count(p.get()), 1u);
  ASSERT_EQ(tern_predictor_output_count(p.get()), 1u);
  TernPort* image = tern_predictor_input_at(p.get(), 0);
  EXPECT_STREQ(tern_port_name(image), "image");
  EXPECT_EQ(image, InputOf(p, "image"));
  EXPECT_STREQ(tern_port_declared_type(image), "f32[N,1,28,28]");
  EXPECT_EQ(tern_port_declared_rank(image), 4);
  EXPECT_EQ(tern_port_declared_dim(image, 0), -1);
  EXPECT_STREQ(tern_port_declared_symbol(image, 0), "N");
  EXPECT_EQ(tern_port_declared_dim(image, 3), 28);
  EXPECT_STREQ(tern_port_declared_symbol(image, 3), "");
  FeedDigits(p, 2);
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  int64_t dims[4] = {7, 7, 7, 7};
  EXPECT_EQ(tern_port_shape(tern_predictor_output_at(p.get(), 0), dims, 4), 2u);
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 10);
  EXPECT_EQ(dims[2], 7);
  const auto* data = static_cast<const float*>(tern_port_data(tern_predictor_output_at(p.get(), 0)));
  ASSERT_NE(data, nullptr);
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum += data[i];
  EXPECT_NEAR(sum, 1, 1e-4);
}

TEST(CPredictor, LoadsFromMemory) {
  std::ifstream file(TERN_DIGITS, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto from_file = Digits(), from_memory = Create(ConfigOf(bytes.data(), bytes.size()));
  for (const auto* p : {&from_file, &from_memory}) {
    FeedDigits(*p, 1);
    ExpectOk(tern_predictor_run(p->get(), nullptr));
  }
  EXPECT_EQ(Scores(from_file), Scores(from_memory));
}

TEST(CPredictor, ErrorsNameThePlace) {
  Owned<TernConfig> config(tern_config_new());
  TernPredictor* p = nullptr;
  ExpectFails(tern_predictor_create(config.get(), &p), TERN_INVALID_ARGUMENT, "names no model");
  tern_config_set_model_path(config.get(), "nowhere.onnx");
  ExpectFails(tern_predictor_create(config.get(), &p), TERN_NOT_FOUND, "nowhere.onnx");
  EXPECT_EQ(p, nullptr);
  const char broken[] = "\010\010:\004abcd";
  const auto bad = ConfigOf(broken, sizeof broken - 1);
  ExpectFails(tern_predictor_create(bad.get(), &p), TERN_INVALID_MODEL, "");
  const auto digits = Digits();
  TernPort* port = tern_predictor_input_at(digits.get(), 0);
  ExpectFails(tern_predictor_input(digits.get(), "images", &port), TERN_NOT_FOUND, "it has: image");
  EXPECT_EQ(port, nullptr);
  ExpectFails(tern_predictor_run(digits.get(), nullptr), TERN_INVALID_ARGUMENT, "image");
}

struct Option {
  void (*set)(TernConfig*);
  const char* error;  // null if the option is valid
};

TEST(CConfig, PassesEveryOption) {
  const Option options[] = {
      {[](TernConfig* c) { tern_config_set_threads(c, 2); }, nullptr},
      {[](TernConfig* c) { tern_config_set_threads(c, -1); }, "threads"},
      {[](TernConfig* c) { tern_config_set_plan_cache(c, 1); }, nullptr},
      {[](TernConfig* c) { tern_config_set_plan_cache(c, 0); }, "plan"},
      {[](TernConfig* c) { tern_config_set_memory_limit(c, 1 << 20); }, nullptr},
      {[](TernConfig* c) { tern_config_set_collect_limit(c, 1 << 20); }, nullptr},
      {[](TernConfig* c) { tern_config_set_batch(c, -2); }, "batch"},
      {[](TernConfig* c) { tern_config_set_optimize(c, "none"); }, nullptr},
      {[](TernConfig* c) { tern_config_set_optimize(c, "fast"); }, "'fast' is not an optimization level"},
      {[](TernConfig* c) { tern_config_set_precision(c, "auto"); }, nullptr},
      {[](TernConfig* c) { tern_config_set_precision(c, "fp7"); }, "'fp7' is not a precision"},
      {[](TernConfig* c) { tern_config_set_tune_ms(c, 600001); }, "600001"},
      {[](TernConfig* c) { tern_config_set_cache_dir(c, ""); }, nullptr},
      {[](TernConfig* c) { tern_config_set_reference(c, 1); }, nullptr},
      {[](TernConfig* c) { tern_config_set_states(c, "none"); }, nullptr},
      {[](TernConfig* c) { tern_config_set_states(c, "a=b"); }, "a"},
      {[](TernConfig* c) { tern_config_set_states(c, nullptr); }, "'pairs' is NULL"},
      {[](TernConfig* c) { tern_config_set_model_buffer(c, "x", 1); }, "both set"},
  };
  for (size_t i = 0; i < std::size(options); ++i) {
    const auto config = DigitsConfig();
    options[i].set(config.get());
    TernPredictor* made = nullptr;
    const Outcome outcome(tern_predictor_create(config.get(), &made));
    const Owned<TernPredictor> p(made);
    EXPECT_EQ(outcome.ok(), !options[i].error) << "option " << i << ": " << outcome.message;
    EXPECT_TRUE(outcome.Says(options[i].error ? options[i].error : "")) << i << ": " << outcome.message;
  }
}

TEST(CConfig, LimitsMemory) {
  const auto config = DigitsConfig();
  tern_config_set_memory_limit(config.get(), 1000);
  const auto p = Create(config);
  FeedDigits(p, 64);
  ExpectFails(tern_predictor_run(p.get(), nullptr), TERN_RESOURCE_EXHAUSTED, "1000");
}

TEST(CConfig, KeepsTheFirstErrorOfASetter) {
  const auto config = DigitsConfig();
  tern_config_set_precision(config.get(), nullptr);
  tern_config_set_states(config.get(), nullptr);
  TernPredictor* p = nullptr;
  ExpectFails(tern_predictor_create(config.get(), &p), TERN_INVALID_ARGUMENT,
              "tern_config_set_precision: the argument 'name' is NULL");
}

TEST(CPredictor, ClonesRunAtTheSameTime) {
  const auto p = Digits();
  const auto clone = Make<TernPredictor>(tern_predictor_clone, p.get());
  FeedDigits(p, 1);
  FeedDigits(clone, 1);
  std::atomic<int> failed{0};
  const auto run = [&](TernPredictor* predictor) {
    for (int i = 0; i < 20; ++i) failed += !Outcome(tern_predictor_run(predictor, nullptr)).ok();
  };
  std::thread other(run, clone.get());
  run(p.get());
  other.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Scores(p), Scores(clone));
}

TEST(CPredictor, RefusesASecondThread) {
  const auto p = Digits();
  FeedDigits(p, 8);
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  std::atomic<int> refused{0}, others{0};
  const auto run = [&] {
    for (int i = 0; i < 200; ++i) {
      const Outcome outcome(tern_predictor_run(p.get(), nullptr));
      if (!outcome.ok()) ++(outcome.Says("in use by another thread") ? refused : others);
    }
  };
  std::thread one(run), two(run);
  one.join();
  two.join();
  EXPECT_EQ(others, 0);
  EXPECT_LT(refused, 400);
}

TEST(CRunOptions, EndARun) {
  const auto p = Digits();
  FeedDigits(p, 1);
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  Owned<TernRunOptions> options(tern_run_options_new());
  tern_run_options_set_tag(options.get(), "request 17");
  ExpectOk(tern_predictor_run(p.get(), options.get()));

  Owned<TernCancel> cancel(tern_cancel_new());
  tern_run_options_set_cancel(options.get(), cancel.get());
  ExpectOk(tern_predictor_run(p.get(), options.get()));
  tern_cancel_set(cancel.get());
  EXPECT_EQ(tern_cancel_is_set(cancel.get()), 1);
  ExpectFails(tern_predictor_run(p.get(), options.get()), TERN_CANCELLED, "request 17");
  tern_cancel_clear(cancel.get());
  ExpectOk(tern_predictor_run(p.get(), options.get()));
  tern_cancel_set(cancel.get());
  cancel.reset();  // the options still have the flag
  ExpectFails(tern_predictor_run(p.get(), options.get()), TERN_CANCELLED, "");
  tern_run_options_set_cancel(options.get(), nullptr);

  tern_run_options_set_timeout_ns(options.get(), 1);
  ExpectFails(tern_predictor_run(p.get(), options.get()), TERN_CANCELLED, "");
  tern_run_options_set_timeout_ns(options.get(), -1);
  ExpectFails(tern_predictor_run(p.get(), options.get()), TERN_INVALID_ARGUMENT, "timeout");
  tern_run_options_set_timeout_ns(options.get(), 0);
  tern_run_options_set_deadline_ns(options.get(), tern_clock_ns());
  ExpectFails(tern_predictor_run(p.get(), options.get()), TERN_CANCELLED, "");
  tern_run_options_set_deadline_ns(options.get(), tern_clock_ns() + 60'000'000'000);
  ExpectOk(tern_predictor_run(p.get(), options.get()));
  tern_run_options_set_deadline_ns(options.get(), INT64_MAX);
  ExpectOk(tern_predictor_run(p.get(), options.get()));
  tern_run_options_set_tag(options.get(), nullptr);
  ExpectFails(tern_predictor_run(p.get(), options.get()), TERN_INVALID_ARGUMENT, "'tag' is NULL");
}

Owned<TernPredictor> Decoder() {
  const auto config = ConfigOf(kDecoderModel, sizeof kDecoderModel - 1);
  tern_config_set_states(config.get(), "auto");
  return Create(config);
}

std::vector<float> Step(const Owned<TernPredictor>& p, int64_t token) {
  const int64_t dims[] = {1, 1};
  ExpectOk(tern_port_copy_from(InputOf(p, "ids"), TERN_I64, &token, sizeof token, dims, 2));
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  return Scores(p);
}

TEST(CStates, AreListedAndKeptBetweenRuns) {
  const auto p = Decoder();
  ASSERT_EQ(tern_predictor_state_count(p.get()), 2u);
  EXPECT_STREQ(tern_predictor_state_name(p.get(), 0), "past_key_values.0.key");
  EXPECT_STREQ(tern_predictor_state_output(p.get(), 0), "present.0.key");
  EXPECT_EQ(std::string(tern_predictor_state_type(p.get(), 0)).substr(0, 4), "f32[");
  EXPECT_EQ(tern_predictor_state_axis(p.get(), 0), 2);
  EXPECT_EQ(tern_predictor_state_axis(p.get(), 2), -1);
  const auto first = Step(p, 3), second = Step(p, 4);
  EXPECT_EQ(tern_predictor_state_length(p.get()), 2);
  ExpectOk(tern_predictor_reset_states(p.get()));
  EXPECT_EQ(tern_predictor_state_length(p.get()), 0);
  EXPECT_NE(Step(p, 4), second);
  ExpectOk(tern_predictor_reset_states(p.get()));
  EXPECT_EQ(Step(p, 3), first);
}

TEST(CStates, AreCopiedToAClone) {
  const auto p = Decoder();
  Step(p, 1);
  const auto clone = Make<TernPredictor>(tern_predictor_clone, p.get());
  for (size_t i = 0; i < tern_predictor_state_count(p.get()); ++i) {
    const char* name = tern_predictor_state_name(p.get(), i);
    const auto state = Make<TernValue>(tern_predictor_get_state, p.get(), name);
    int64_t dims[4];
    ASSERT_EQ(tern_value_shape(state.get(), dims, 4), 4u);
    EXPECT_EQ(dims[2], 1);
    ExpectOk(tern_predictor_set_state(clone.get(), name, state.get()));
  }
  EXPECT_EQ(Step(p, 2), Step(clone, 2));
  TernValue* none = nullptr;
  ExpectFails(tern_predictor_get_state(p.get(), "past", &none), TERN_NOT_FOUND, "past");
  ExpectFails(tern_predictor_input(p.get(), "past_key_values.0.key", reinterpret_cast<TernPort**>(&none)),
              TERN_INVALID_ARGUMENT, "belongs to state");
}

TEST(CPredictor, WarnsAboutSlowOps) {
  const auto p = Kinds();
  const auto warnings = Make<TernStrings>(tern_predictor_warnings, p.get());
  const size_t count = tern_strings_count(warnings.get());
  for (size_t i = 0; i < count; ++i) EXPECT_GT(std::strlen(tern_strings_at(warnings.get(), i)), 0u);
  EXPECT_EQ(tern_strings_at(warnings.get(), count), nullptr);
}

TEST(CProfile, HasTheTimesOfEachNode) {
  const auto p = Digits();
  FeedDigits(p, 1);
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  TernProfile* none = nullptr;
  ExpectFails(tern_predictor_stop_profile(p.get(), &none), TERN_INVALID_ARGUMENT, "no profile");
  ExpectOk(tern_predictor_start_profile(p.get()));
  for (int i = 0; i < 3; ++i) ExpectOk(tern_predictor_run(p.get(), nullptr));
  const auto profile = Make<TernProfile>(tern_predictor_stop_profile, p.get());
  EXPECT_EQ(tern_profile_runs(profile.get()), 3);
  EXPECT_LE(tern_profile_fastest_ns(profile.get()) * 3, tern_profile_total_ns(profile.get()));
  const size_t count = tern_profile_node_count(profile.get());
  ASSERT_GE(count, 3u);
  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    for (const char* text : {tern_profile_node_name(profile.get(), i), tern_profile_node_op(profile.get(), i),
                             tern_profile_node_kernel(profile.get(), i)})
      EXPECT_GT(std::strlen(text), 0u) << i;
    EXPECT_NE(tern_profile_node_output(profile.get(), i), nullptr);
    EXPECT_EQ(tern_profile_node_depth(profile.get(), i), 0);
    EXPECT_EQ(tern_profile_node_runs(profile.get(), i), 3);
    EXPECT_GE(tern_profile_node_calls(profile.get(), i), 3);
    EXPECT_LE(tern_profile_node_fastest_ns(profile.get(), i) * 3,
              tern_profile_node_total_ns(profile.get(), i));
    EXPECT_GE(tern_profile_node_flops(profile.get(), i), 0);
    EXPECT_GE(tern_profile_node_bytes(profile.get(), i), 0);
    sum += tern_profile_node_total_ns(profile.get(), i);
  }
  EXPECT_LE(sum, tern_profile_total_ns(profile.get()));
  EXPECT_EQ(tern_profile_node_name(profile.get(), count), nullptr);
}

}  // namespace
}  // namespace tern::test
