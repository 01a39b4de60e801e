// Tests that mistakes of the caller and exhausted memory are errors of the C API, never crashes.
#include <functional>
#include <vector>

#include "bindings/c/test_support.h"
#include "bindings/test_allocations.h"

namespace tern::test {
namespace {

TEST(CMisuse, NullArgumentsAreErrors) {
  const auto p = Digits();
  TernPort *port = tern_predictor_input_at(p.get(), 0), *found = nullptr;
  const auto config = DigitsConfig();
  const auto value = Make<TernValue>(tern_value_none);
  TernPredictor* predictor = nullptr;
  TernValue* made = nullptr;
  TernStrings* strings = nullptr;
  TernProfile* profile = nullptr;
  int64_t key = 0;
  TernStatus* const statuses[] = {
      tern_predictor_create(nullptr, &predictor),
      tern_predictor_create(config.get(), nullptr),
      tern_predictor_clone(nullptr, &predictor),
      tern_predictor_clone(p.get(), nullptr),
      tern_predictor_input(nullptr, "image", &found),
      tern_predictor_input(p.get(), nullptr, &found),
      tern_predictor_input(p.get(), "image", nullptr),
      tern_predictor_output(nullptr, "image", &found),
      tern_predictor_output(p.get(), nullptr, &found),
      tern_predictor_output(p.get(), "image", nullptr),
      tern_predictor_run(nullptr, nullptr),
      tern_predictor_warnings(nullptr, &strings),
      tern_predictor_warnings(p.get(), nullptr),
      tern_predictor_reset_states(nullptr),
      tern_predictor_get_state(nullptr, "a", &made),
      tern_predictor_get_state(p.get(), nullptr, &made),
      tern_predictor_get_state(p.get(), "a", nullptr),
      tern_predictor_set_state(nullptr, "a", value.get()),
      tern_predictor_set_state(p.get(), nullptr, value.get()),
      tern_predictor_set_state(p.get(), "a", nullptr),
      tern_predictor_start_profile(nullptr),
      tern_predictor_stop_profile(nullptr, &profile),
      tern_predictor_stop_profile(p.get(), nullptr),
      tern_port_copy_to(nullptr, TERN_F32, &key, 8),
      tern_port_get_value(nullptr, &made),
      tern_port_get_value(port, nullptr),
      tern_port_copy_from(nullptr, TERN_F32, &key, 8, nullptr, 0),
      tern_port_copy_strings(nullptr, nullptr, nullptr, 0, nullptr, 0),
      tern_port_share(nullptr, TERN_F32, &key, 8, nullptr, 0),
      tern_port_bind(nullptr, TERN_F32, &key, 8, nullptr, 0),
      tern_port_reshape(nullptr, nullptr, 0),
      tern_port_set_value(nullptr, value.get()),
      tern_port_set_value(port, nullptr),
      tern_port_reset(nullptr),
      tern_value_tensor(TERN_I64, &key, 8, nullptr, 0, nullptr),
      tern_value_strings(nullptr, nullptr, 0, nullptr, 0, nullptr),
      tern_value_sequence(nullptr, 0, nullptr),
      tern_value_map_i64(nullptr, nullptr, 0, nullptr),
      tern_value_map_strings(nullptr, nullptr, nullptr, 0, nullptr),
      tern_value_none(nullptr),
      tern_value_copy_to(nullptr, TERN_I64, &key, 8),
      tern_value_at(nullptr, 0, &made),
      tern_value_at(value.get(), 0, nullptr),
      tern_value_key_i64(nullptr, 0, &key),
      tern_value_key_i64(value.get(), 0, nullptr),
      tern_value_find_i64(nullptr, 0, &made),
      tern_value_find_i64(value.get(), 0, nullptr),
      tern_value_find_string(nullptr, "a", &made),
      tern_value_find_string(value.get(), nullptr, &made),
      tern_value_find_string(value.get(), "a", nullptr),
  };
  for (size_t i = 0; i < std::size(statuses); ++i) {
    const Outcome outcome(statuses[i]);
    EXPECT_EQ(outcome.code, TERN_INVALID_ARGUMENT) << i;
    EXPECT_TRUE(outcome.Says("tern_") && outcome.Says("' is NULL")) << i << ": " << outcome.message;
  }
  EXPECT_TRUE(!predictor && !made && !strings && !profile && !found);
}

TEST(CMisuse, GettersAcceptNull) {
  EXPECT_EQ(tern_status_code(nullptr), TERN_OK);
  EXPECT_STREQ(tern_status_message(nullptr), "");
  for (const char* text : {tern_strings_at(nullptr, 0), tern_port_name(nullptr), tern_value_type(nullptr),
                           tern_port_declared_type(nullptr), tern_port_declared_symbol(nullptr, 0),
                           tern_port_string(nullptr, 0, nullptr), tern_value_string(nullptr, 0, nullptr),
                           tern_value_key_string(nullptr, 0, nullptr), tern_predictor_state_name(nullptr, 0),
                           tern_predictor_state_output(nullptr, 0), tern_predictor_state_type(nullptr, 0),
                           tern_profile_node_name(nullptr, 0), tern_profile_node_op(nullptr, 0),
                           tern_profile_node_kernel(nullptr, 0), tern_profile_node_output(nullptr, 0)})
    EXPECT_EQ(text, nullptr);
  for (const TernPort* port : {tern_predictor_input_at(nullptr, 0), tern_predictor_output_at(nullptr, 0),
                               tern_predictor_overridable_at(nullptr, 0)})
    EXPECT_EQ(port, nullptr);
  for (const size_t size :
       {tern_strings_count(nullptr), tern_predictor_input_count(nullptr),
        tern_predictor_output_count(nullptr), tern_predictor_overridable_count(nullptr),
        tern_predictor_state_count(nullptr), tern_port_shape(nullptr, nullptr, 0), tern_port_size(nullptr),
        tern_port_bytes(nullptr), tern_value_shape(nullptr, nullptr, 0), tern_value_size(nullptr),
        tern_value_bytes(nullptr), tern_profile_node_count(nullptr)})
    EXPECT_EQ(size, 0u);
  for (const int64_t number :
       {tern_predictor_state_length(nullptr), tern_profile_runs(nullptr), tern_profile_total_ns(nullptr),
        tern_profile_fastest_ns(nullptr), tern_profile_node_runs(nullptr, 0),
        tern_profile_node_calls(nullptr, 0), tern_profile_node_total_ns(nullptr, 0),
        tern_profile_node_fastest_ns(nullptr, 0)})
    EXPECT_EQ(number, 0);
  EXPECT_EQ(tern_profile_node_flops(nullptr, 0) + tern_profile_node_bytes(nullptr, 0), 0);
  EXPECT_EQ(tern_port_data(nullptr), nullptr);
  EXPECT_EQ(tern_value_data(nullptr), nullptr);
  EXPECT_EQ(tern_port_dtype(nullptr), TERN_INVALID_DTYPE);
  EXPECT_EQ(tern_value_dtype(nullptr), TERN_INVALID_DTYPE);
  EXPECT_EQ(tern_value_key_type(nullptr), TERN_INVALID_DTYPE);
  EXPECT_EQ(tern_value_kind(nullptr), TERN_KIND_EMPTY);
  EXPECT_EQ(tern_port_declared_rank(nullptr), -1);
  EXPECT_EQ(tern_port_declared_dim(nullptr, 0), -1);
  EXPECT_EQ(tern_predictor_state_axis(nullptr, 0), -1);
  EXPECT_EQ(tern_profile_node_depth(nullptr, 0), -1);
  EXPECT_EQ(tern_cancel_is_set(nullptr), 0);
  EXPECT_STREQ(tern_dtype_name(-1), "invalid");
  EXPECT_STREQ(tern_dtype_name(1000), "invalid");
  EXPECT_EQ(tern_dtype_bits(1000) + tern_dtype_bits(-1) + tern_dtype_bits(TERN_STRING), 0u);
}

TEST(CMisuse, SettersAndFreesAcceptNull) {
  tern_config_set_model_path(nullptr, "a");
  tern_config_set_model_buffer(nullptr, "a", 1);
  tern_config_set_threads(nullptr, 1);
  tern_config_set_states(nullptr, nullptr);
  tern_run_options_set_cancel(nullptr, nullptr);
  tern_run_options_set_tag(nullptr, "a");
  tern_run_options_set_timeout_ns(nullptr, 1);
  tern_run_options_set_deadline_ns(nullptr, 1);
  tern_cancel_set(nullptr);
  tern_cancel_clear(nullptr);
  tern_status_free(nullptr);
  tern_strings_free(nullptr);
  tern_config_free(nullptr);
  tern_predictor_free(nullptr);
  tern_run_options_free(nullptr);
  tern_cancel_free(nullptr);
  tern_value_free(nullptr);
  tern_profile_free(nullptr);
}

TEST(CMisuse, AnOutputIsNotAnInput) {
  const auto p = Digits();
  TernPort* out = tern_predictor_output_at(p.get(), 0);
  const float number = 0;
  ExpectFails(tern_port_copy_from(out, TERN_F32, &number, 4, nullptr, 0), TERN_INVALID_ARGUMENT,
              "cannot be fed");
  ExpectFails(tern_port_reshape(out, nullptr, 0), TERN_INVALID_ARGUMENT, "cannot be fed");
  const auto value = Make<TernValue>(tern_value_none);
  ExpectFails(tern_port_set_value(out, value.get()), TERN_INVALID_ARGUMENT, "cannot be fed");
  float scores[10];
  ExpectFails(tern_port_copy_to(out, TERN_F32, scores, sizeof scores), TERN_INVALID_ARGUMENT,
              "no run has computed it");
  ExpectOk(tern_port_set_value(tern_predictor_input_at(p.get(), 0), value.get()));
  ExpectFails(tern_predictor_run(p.get(), nullptr), TERN_INVALID_ARGUMENT, "image");
}

// Calls `body` again and again, with more successful allocations each time, until it succeeds. The number of
// allocations grows by 1, and later by a fraction of itself.
void ExhaustMemory(const std::function<TernStatus*()>& body) {
  for (long allowed = 0;; allowed += 1 + allowed / 50) {
    ASSERT_LT(allowed, 10000000);
    allocations_left = allowed;
    TernStatus* status = body();
    allocations_left = -1;
    const Outcome outcome(status);
    if (outcome.ok()) return;
    ASSERT_EQ(outcome.code, TERN_RESOURCE_EXHAUSTED) << allowed << ": " << outcome.message;
    ASSERT_TRUE(outcome.Says("out of memory")) << allowed << ": " << outcome.message;
  }
}

TEST(CMemory, ExhaustionIsAnErrorOfValues) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer's pthread_once waits forever after an exception";
#endif
  const float data[] = {1, 2};
  const int64_t two = 2, keys[] = {1, 2};
  TernValue *tensor = nullptr, *map = nullptr, *list = nullptr, *item = nullptr, *words = nullptr;
  ExhaustMemory([&] { return tern_value_tensor(TERN_F32, data, sizeof data, &two, 1, &tensor); });
  const TernValue* both[] = {tensor, tensor};
  const char* texts[] = {"a text that is longer than a short string", "another text of such a length"};
  ExhaustMemory([&] { return tern_value_map_i64(keys, both, 2, &map); });
  ExhaustMemory([&] { return tern_value_sequence(both, 2, &list); });
  ExhaustMemory([&] { return tern_value_strings(texts, nullptr, 2, &two, 1, &words); });
  ExhaustMemory([&] { return tern_value_at(list, 1, &item); });
  allocations_left = 0;
  const char* type = tern_value_type(list);
  allocations_left = -1;
  EXPECT_TRUE(!type || std::string(type) == "seq(f32[2])");
  EXPECT_STREQ(tern_value_type(list), "seq(f32[2])");
  for (TernValue* value : {tensor, map, list, item, words}) tern_value_free(value);
}

TEST(CMemory, ExhaustionIsAnErrorOfPorts) {
  const auto p = Digits();
  TernPort* image = tern_predictor_input_at(p.get(), 0);
  const std::vector<float> pixels(28 * 28);
  const int64_t dims[] = {1, 1, 28, 28};
  ExhaustMemory([&] { return tern_port_copy_from(image, TERN_F32, pixels.data(), 28 * 28 * 4, dims, 4); });
  ExpectOk(tern_predictor_run(p.get(), nullptr));
  TernValue* value = nullptr;
  ExhaustMemory([&] { return tern_port_get_value(tern_predictor_output_at(p.get(), 0), &value); });
  tern_value_free(value);
  TernPort* port = nullptr;
  ExhaustMemory([&] { return tern_predictor_input(p.get(), "image", &port); });
  TernStrings* warnings = nullptr;
  ExhaustMemory([&] { return tern_predictor_warnings(p.get(), &warnings); });
  tern_strings_free(warnings);
}

TEST(CMemory, ExhaustionIsAnErrorOfClonesAndRuns) {
  const auto p = Digits();
  TernPredictor* made = nullptr;
  ExhaustMemory([&] { return tern_predictor_clone(p.get(), &made); });
  const Owned<TernPredictor> clone(made);
  FeedDigits(clone, 2);
  ExhaustMemory([&] { return tern_predictor_run(made, nullptr); });
  EXPECT_NE(tern_port_data(tern_predictor_output_at(made, 0)), nullptr);
}

TEST(CMemory, ExhaustionIsAnErrorOfConfigs) {
  const std::string path = "a folder with a long name/that does not exist.onnx";
  for (long allowed = 0; allowed < 10; ++allowed) {
    allocations_left = allowed;
    Owned<TernConfig> config(tern_config_new());
    tern_config_set_model_path(config.get(), path.c_str());
    allocations_left = -1;
    TernPredictor* p = nullptr;
    const Outcome outcome(tern_predictor_create(config.get(), &p));
    EXPECT_TRUE(!config || outcome.code == TERN_RESOURCE_EXHAUSTED || outcome.Says(path)) << outcome.message;
  }
}

}  // namespace
}  // namespace tern::test
