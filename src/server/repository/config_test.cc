#include "server/repository/config.h"

#include <gtest/gtest.h>

#include "model_config.pb.h"

namespace tern::server {
namespace {

constexpr const char* kSimple = R"(
name: "simple"
platform: "onnxruntime_onnx"
backend: "onnxruntime"
max_batch_size: 8
input [ { name: "INPUT0" data_type: TYPE_INT32 dims: [ 16 ] },
        { name: "INPUT1" data_type: TYPE_INT32 dims: [ 16 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 16 ] } ]
)";

std::string TextError(const std::string& text) {
  ConfigMessage message;
  return ParseConfigText(text, message).message();
}

// Returns the error of CheckConfig for a configuration, after SetDefaults.
std::string CheckError(const std::string& text) {
  ConfigMessage message;
  const Status parsed = ParseConfigText(text, message);
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  SetDefaults(message);
  return CheckConfig(message).message();
}

ModelConfig Converted(const std::string& text) {
  ConfigMessage message;
  EXPECT_EQ(TextError(text), "");
  (void)ParseConfigText(text, message).ok();
  SetDefaults(message);
  const Status checked = CheckConfig(message);
  EXPECT_TRUE(checked.ok()) << checked.message();
  auto config = ConvertConfig(message, "");
  EXPECT_TRUE(config.ok()) << config.status().message();
  return config.ok() ? std::move(*config) : ModelConfig();
}

TEST(Config, ReadsText) {
  const ModelConfig config = Converted(kSimple);
  EXPECT_EQ(config.name, "simple");
  EXPECT_EQ(config.max_batch_size, 8);
  ASSERT_EQ(config.inputs.size(), 2u);
  EXPECT_EQ(config.inputs[1].name, "INPUT1");
  EXPECT_EQ(config.inputs[1].dtype, DType::kI32);
  EXPECT_EQ(config.inputs[1].dims, (Dims{16}));
  EXPECT_EQ(config.instances, 2);
  EXPECT_FALSE(config.batching);
}

TEST(Config, NamesLineAndColumnOfErrors) {
  EXPECT_EQ(TextError("name: \"m\"\nmax_batch_sizes: 3\n").substr(0, 40),
            "model configuration, line 2, column 16: ");
  EXPECT_EQ(TextError("name: 'm").substr(0, 28), "model configuration, line 1,");
  EXPECT_NE(TextError("input { data_type: TYPE_FLOAT }"), "");
  EXPECT_NE(TextError("max_batch_size: 99999999999"), "");
  EXPECT_NE(TextError("dynamic_batching {} sequence_batching {}"), "") << "only one scheduler may be set";
  EXPECT_NE(TextError("name: \"\\377\""), "") << "not UTF-8";
  EXPECT_NE(TextError(std::string(17 << 20, ' ')), "");
  EXPECT_EQ(TextError(""), "");
  EXPECT_NE(TextError(std::string(100'000, '{')), "");
}

TEST(Config, ReadsYaml) {
  ConfigMessage message;
  const Status status = ParseConfigYaml(R"(
name: m
max_batch_size: 4
input:
  - {name: x, data_type: TYPE_FP32, dims: [3, -1]}
output:
  name: y
  data_type: 11
  dims: 5
dynamic_batching: {max_queue_delay_microseconds: 100, priority_queue_policy: {2: {max_queue_size: 7}}}
parameters: {tern_p99_ms: 20, long: {string_value: text}}
instance_group: [{count: 3, kind: KIND_CPU}]
)",
                                        message);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(message.input(0).dims(1), -1);
  EXPECT_EQ(message.output(0).data_type(), inference::TYPE_FP32);
  EXPECT_EQ(message.output(0).dims(0), 5);
  EXPECT_EQ(message.dynamic_batching().max_queue_delay_microseconds(), 100u);
  EXPECT_EQ(message.dynamic_batching().priority_queue_policy().at(2).max_queue_size(), 7u);
  EXPECT_EQ(message.parameters().at("tern_p99_ms").string_value(), "20");
  EXPECT_EQ(message.parameters().at("long").string_value(), "text");
  EXPECT_EQ(message.instance_group(0).count(), 3);
}

TEST(Config, RefusesWrongYaml) {
  const auto error = [](const std::string& text) {
    ConfigMessage message;
    return ParseConfigYaml(text, message).message();
  };
  EXPECT_EQ(error("name: m\nbatch: 3\n"),
            "model configuration, line 2, column 1: message ModelConfig has no field 'batch'");
  EXPECT_EQ(
      error("max_batch_size: many"),
      "model configuration, line 1, column 17: 'many' is no value for field 'max_batch_size' of type int32");
  EXPECT_NE(error("input: 5"), "");
  EXPECT_NE(error("[1, 2"), "");
  EXPECT_NE(error("dynamic_batching: {}\nsequence_batching: {}"), "");
  EXPECT_NE(error(std::string(100'000, '[')), "");
  EXPECT_EQ(error(""), "");
  // Each alias repeats the same node, so a short text becomes a large configuration.
  std::string bomb = "metric_tags: &a {x: y}\ninput:\n  - &i {name: x, dims: [1,1,1,1,1,1,1,1,1,1]}\n";
  for (int i = 0; i < 200'000; ++i) bomb += "  - *i\n";
  EXPECT_NE(error(bomb), "");
}

TEST(Config, ReadsJson) {
  ConfigMessage message;
  ASSERT_TRUE(ParseConfigJson(R"({"name":"m","max_batch_size":2,"input":[{"name":"x","data_type":"TYPE_FP32",
      "dims":[1,"2"]}],"dynamic_batching":{"priority_queue_policy":{"1":{"max_queue_size":3}}}})",
                              message)
                  .ok());
  EXPECT_EQ(message.input(0).dims(1), 2);
  EXPECT_EQ(message.dynamic_batching().priority_queue_policy().at(1).max_queue_size(), 3u);
  for (const char* wrong : {"", "{", "[]", R"({"nam":"m"})", R"({"max_batch_size":"x"})"})
    EXPECT_FALSE(ParseConfigJson(wrong, message).ok()) << wrong;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
  EXPECT_FALSE(ParseConfigJson(deep, message).ok());
}

TEST(Config, WritesJsonThatItReads) {
  ConfigMessage message, again;
  ASSERT_TRUE(ParseConfigText(std::string(kSimple) + R"(
    dynamic_batching { max_queue_delay_microseconds: 18446744073709551615
                       priority_queue_policy { key: 10 value { max_queue_size: 1 } }
                       priority_queue_policy { key: 9 value { timeout_action: DELAY } } }
    parameters { key: "b" value { string_value: "\"\n" } } parameters { key: "a" value { string_value: "1" } }
    version_policy { specific { versions: [ 1, 9223372036854775807 ] } })",
                              message)
                  .ok());
  SetDefaults(message);
  const std::string json = ConfigJson(message);
  ASSERT_TRUE(ParseConfigJson(json, again).ok()) << json;
  EXPECT_EQ(ConfigJson(again), json);
  // Triton's clients expect 64-bit integers as numbers, and also the fields that are not set.
  for (const char* part :
       {R"("name":"simple")", R"("max_batch_size":8)", R"("dims":[16])", R"("reshape")",
        R"("max_queue_delay_microseconds":18446744073709551615)", R"("versions":[1,9223372036854775807])",
        R"("data_type":"TYPE_INT32")", R"("batch_input":[])", R"("metric_tags":{})", R"("label_filename":"")",
        R"("format":"FORMAT_NONE")", R"("allow_ragged_batch":false)",
        R"("parameters":{"a":{"string_value":"1"},"b":{"string_value":"\"\n"}})",
        R"("instance_group":[{"name":"simple","kind":"KIND_CPU","count":2)", R"("preferred_batch_size":[8])",
        R"("default_model_filename":"")"}) {
    const bool expected = std::string(part) != R"("reshape")";
    EXPECT_EQ(json.find(part) != std::string::npos, expected) << part << "\n" << json;
  }
}

TEST(Config, SetsTritonsDefaults) {
  ConfigMessage message;
  message.set_name("m");
  message.set_backend("identity");
  message.set_max_batch_size(4);
  message.mutable_sequence_batching()->mutable_oldest();
  message.add_instance_group();
  SetDefaults(message);
  EXPECT_EQ(message.version_policy().latest().num_versions(), 1u);
  EXPECT_EQ(message.sequence_batching().max_sequence_idle_microseconds(), 1'000'000u);
  EXPECT_EQ(message.sequence_batching().oldest().preferred_batch_size(0), 4);
  EXPECT_EQ(message.instance_group(0).name(), "m_0");
  EXPECT_EQ(message.instance_group(0).count(), 1);
  EXPECT_TRUE(message.optimization().input_pinned_memory().enable());
  const std::string once = ConfigJson(message);
  SetDefaults(message);
  EXPECT_EQ(ConfigJson(message), once);
}

TEST(Config, Checks) {
  const std::string io = R"(input { name: "x" data_type: TYPE_FP32 dims: [ 4 ] }
                            output { name: "y" data_type: TYPE_FP32 dims: [ 4 ] } )";
  const std::string ok = "name: 'm' backend: 'b' max_batch_size: 8 " + io;
  EXPECT_EQ(CheckError(ok), "");
  const std::pair<std::string, std::string> cases[] = {
      {"backend: 'b'", "a model name must not be empty"},
      {"name: '../m' backend: 'b'", "model name must not contain path traversal characters"},
      {"name: 'm' backend: 'b' max_batch_size: -1",
       "model 'm': max_batch_size is -1; it must be from 0 to 16777216"},
      {ok + "metric_tags { key: 'team' value: 'x' } metric_tags { key: 'version' value: 'y' }",
       "model 'm': metric_tags has the name 'version', which is a label of the server's own metrics; choose "
       "another name"},
      {ok + "metric_tags { key: '1st' value: 'y' }",
       "model 'm': metric_tags has the name '1st', which is no label of Prometheus: letters, digits and '_', "
       "not a digit first, not '__' first"},
      {ok + "dynamic_batching { preferred_batch_size: [ 4, 9 ] }",
       "model 'm': dynamic_batching prefers batch size 9; it must be from 1 to max_batch_size, 8"},
      {ok + "dynamic_batching { priority_levels: 2 }",
       "model 'm': default_priority_level is 0; it must be from 1 to priority_levels, 2"},
      {ok +
           "dynamic_batching { priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 3 } }",
       "model 'm': priority_queue_policy has level 3; it must be from 1 to priority_levels, 2"},
      {ok + "dynamic_batching { preserve_ordering: true priority_levels: 2 default_priority_level: 1 }",
       "model 'm': preserve_ordering allows one priority level, got 2"},
      {ok + "dynamic_batching { preserve_ordering: true default_queue_policy { timeout_action: DELAY "
            "default_timeout_microseconds: 1 } }",
       "model 'm': preserve_ordering excludes timeout_action DELAY"},
      {ok + "instance_group { kind: KIND_GPU }",
       "model 'm': instance_group 'm_0' has kind KIND_GPU, but this server does not support GPUs"},
      {ok + "instance_group { kind: KIND_CPU gpus: 0 }",
       "model 'm': instance_group 'm_0' names GPUs, but its kind is not KIND_GPU"},
      {ok + "instance_group { count: -2 }",
       "model 'm': instance_group 'm_0' has count -2; it must be from 1 to 1024"},
      {ok + "instance_group { passive: true }", "model 'm': all groups of instance_group are passive"},
      {ok + "input { name: 'x' data_type: TYPE_FP32 dims: 1 }", "model 'm': input 'x' is listed twice"},
      {ok + "input { data_type: TYPE_FP32 dims: 1 }", "model 'm': an input has no name"},
      {ok + "input { name: 'z' dims: 1 }", "model 'm': input 'z': data_type is missing"},
      {ok + "input { name: 'z' data_type: TYPE_FP32 dims: 0 }",
       "model 'm': input 'z': dims has the dim 0; a dim is 1 or more, or -1 for any size"},
      {ok + "input { name: 'z' data_type: TYPE_FP32 dims: -2 }",
       "model 'm': input 'z': dims has the dim -2; a dim is 1 or more, or -1 for any size"},
      {ok + "input { name: 'z' data_type: TYPE_FP32 dims: [ 4294967296, 4294967296 ] }",
       "model 'm': input 'z': dims has too many elements"},
      {ok + "input { name: 'z' data_type: TYPE_FP32 dims: [ 2, 3 ] reshape { shape: 5 } }",
       "model 'm': input 'z': dims and reshape differ in their element counts"},
      {ok + "input { name: 'z' data_type: TYPE_FP32 dims: [ 2, 3 ] format: FORMAT_NHWC }",
       "model 'm': input 'z': format NHWC or NCHW needs 3 dims, got 2"},
      {"name: 'm' backend: 'b' input { name: 'z' data_type: TYPE_FP32 }",
       "model 'm': input 'z': dims are missing"},
      {"name: 'm' backend: 'b' input { name: 'z' data_type: TYPE_FP32 dims: 1 reshape {} }",
       "model 'm': input 'z': reshape is empty, which only models with a batch dim allow"},
      {ok + "version_policy { specific {} }", "model 'm': version_policy specific names no versions"},
      {ok + "version_policy { latest {} }",
       "model 'm': version_policy latest has num_versions 0; it must be 1 or more"},
      {ok + "batch_input { target_name: 't' data_type: TYPE_FP32 source_input: 'q' }",
       "model 'm': the source_input 'q' is no input of the model"},
      {ok + "batch_input { target_name: 't' data_type: TYPE_FP64 source_input: 'x' }",
       "model 'm': the data_type of batch_input must be TYPE_INT32 or TYPE_FP32"},
      {ok + "batch_output { target_name: 't' source_input: 'x' }",
       "model 'm': the target_name 't' of batch_output is no output of the model"},
      {ok + "platform: 'ensemble'", "model 'm': platform 'ensemble' needs ensemble_scheduling"},
      {ok + "response_cache { enable: true } model_transaction_policy { decoupled: true }",
       "model 'm': response_cache excludes decoupled responses, because a request has several"},
      {ok + "sequence_batching { control_input { name: 'S' control { kind: CONTROL_SEQUENCE_START } } }",
       "model 'm': CONTROL_SEQUENCE_START needs one of int32_false_true, fp32_false_true and bool_false_true, "
       "got 0"},
      {ok + "sequence_batching { control_input { name: 'S' control { kind: CONTROL_SEQUENCE_START "
            "int32_false_true: [ 0 ] } } }",
       "model 'm': CONTROL_SEQUENCE_START needs 2 values, for false and true, got 1"},
      {ok +
           "sequence_batching { control_input { name: 'S' control { kind: CONTROL_SEQUENCE_CORRID data_type: "
           "TYPE_FP32 } } }",
       "model 'm': the data_type of CONTROL_SEQUENCE_CORRID must be TYPE_UINT64, TYPE_INT64, TYPE_UINT32, "
       "TYPE_INT32 or TYPE_STRING"},
      {ok + "sequence_batching { state { input_name: 'a' } }",
       "model 'm': a state needs input_name and output_name"},
      {ok + "sequence_batching { direct { minimum_slot_utilization: nan } }",
       "model 'm': minimum_slot_utilization must be from 0 to 1"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(CheckError(text), error) << text;
}

std::string Ensemble(const std::string& steps) {
  return R"(name: "e" platform: "ensemble" max_batch_size: 8
            input { name: "in" data_type: TYPE_FP32 dims: 4 } output { name: "out" data_type: TYPE_FP32 dims: 4 }
            ensemble_scheduling { )" +
         steps + "}";
}
std::string Step(const std::string& model, const std::string& from, const std::string& to) {
  return StrCat("step { model_name: '", model, "' model_version: -1 input_map { key: 'x' value: '", from,
                "' } output_map { key: 'y' value: '", to, "' } } ");
}

TEST(Config, ChecksEnsembles) {
  EXPECT_EQ(CheckError(Ensemble(Step("b", "t", "out") + Step("a", "in", "t"))), "");
  const std::pair<std::string, std::string> cases[] = {
      {"", "ensemble_scheduling has no step"},
      {Step("a", "in", "t"), "no step writes the ensemble's output 'out'"},
      {Step("a", "in", "out") + Step("b", "in", "out"),
       "ensemble tensor 'out' is written more than once, last by step 1"},
      {Step("a", "in", "in"), "ensemble tensor 'in' is written more than once, last by step 0"},
      {Step("a", "q", "out"), "step 0 reads ensemble tensor 'q', which neither an input nor a step gives"},
      {Step("a", "in", "out") + Step("b", "t", "u") + Step("c", "u", "t"),
       "the steps form a cycle: step 1 of model 'b' waits for step 2 of model 'c', which waits for step 1"},
      {Step("a", "t", "out") + Step("b", "in", "v") + Step("c", "t", "u") + Step("d", "u", "t"),
       "the steps form a cycle: step 2 of model 'c' waits for step 3 of model 'd', which waits for step 2"},
      {Step("a", "in", "out") + Step("b", "t", "t"),
       "the steps form a cycle: step 1 of model 'b' waits for itself"},
      {Step("e", "in", "out"), "step 0 is the ensemble itself"},
      {Step("../a", "in", "out"), "model name must not contain path traversal characters"},
      {Step("", "in", "out"), "step 0 has no model_name"},
      {"step { model_name: 'a' }", "step 0 has no input_map"},
  };
  for (const auto& [steps, error] : cases)
    EXPECT_EQ(CheckError(Ensemble(steps)), "model 'e': " + error) << steps;
  const ModelConfig config = Converted(Ensemble(Step("a", "in", "t") + Step("b", "t", "out")));
  ASSERT_EQ(config.ensemble.size(), 2u);
  EXPECT_EQ(config.ensemble[1].model, "b");
  EXPECT_EQ(config.ensemble[1].version, "");
  EXPECT_EQ(config.ensemble[1].inputs.at("x"), "t");
}

TEST(Config, ConvertsSchedulers) {
  const ModelConfig batching = Converted(std::string(kSimple) + R"(
    dynamic_batching { preferred_batch_size: [ 2, 4 ] max_queue_delay_microseconds: 18446744073709551615
      priority_levels: 3 default_priority_level: 2
      default_queue_policy { default_timeout_microseconds: 5 max_queue_size: 6 allow_timeout_override: true }
      priority_queue_policy { key: 1 value { timeout_action: DELAY } } }
    parameters { key: "tern_p99_ms" value { string_value: "12.5" } }
    parameters { key: "tern_threads" value { string_value: "2" } }
    parameters { key: "tern_allowed_batch_sizes" value { string_value: "1, 4,8" } })");
  ASSERT_TRUE(batching.batching);
  EXPECT_EQ(batching.batching->preferred_batch_sizes, (std::vector<int>{2, 4}));
  EXPECT_GT(batching.batching->max_queue_delay.count(), 0);
  EXPECT_EQ(batching.batching->default_policy.max_queue_size, 6u);
  EXPECT_EQ(batching.batching->priority_policies.at(1).timeout_action, TimeoutAction::kDelay);
  EXPECT_EQ(batching.batching->allowed_batch_sizes, (std::vector<int>{1, 4, 8}));
  EXPECT_EQ(batching.goal.p99.count(), 12'500);
  EXPECT_EQ(batching.threads, 2);
  const ModelConfig sequence = Converted(std::string(kSimple) + R"(
    sequence_batching { oldest { max_candidate_sequences: 4 preserve_ordering: true }
      control_input { name: "START" control { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] } }
      control_input { name: "ID" control { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } }
      state { input_name: "a" output_name: "b" data_type: TYPE_FP32 dims: [ -1, 2 ] } })");
  ASSERT_TRUE(sequence.sequence);
  EXPECT_EQ(sequence.sequence->strategy, SequenceStrategy::kOldest);
  EXPECT_EQ(sequence.sequence->controls[0].dtype, DType::kF32);
  EXPECT_EQ(sequence.sequence->controls[1].kind, ControlInput::Kind::kCorrelationId);
  EXPECT_EQ(sequence.sequence->controls[1].dtype, DType::kU64);
  EXPECT_EQ(sequence.sequence->states[0].dims, (Dims{-1, 2}));
  EXPECT_EQ(sequence.sequence->max_idle.count(), 1'000'000);
  const ModelConfig iterative =
      Converted(std::string(kSimple) + "sequence_batching { iterative_sequence: true }");
  EXPECT_TRUE(iterative.sequence->iterative);
  EXPECT_EQ(iterative.sequence->max_idle.count(), 0) << "an iteration has no limit";
}

TEST(Config, RefusesWrongParameters) {
  for (const auto& [key, value] : {std::pair("tern_p99_ms", "0"),
                                   {"tern_p99_ms", "nan"},
                                   {"tern_p99_ms", "-1"},
                                   {"tern_p99_ms", "1e300"},
                                   {"tern_threads", "x"},
                                   {"tern_threads", "-1"},
                                   {"tern_allowed_batch_sizes", "1,9"},
                                   {"tern_allowed_batch_sizes", "4,2"},
                                   {"tern_allowed_batch_sizes", ""},
                                   {"tern_precision", "fp8"}}) {
    ConfigMessage message;
    ASSERT_TRUE(ParseConfigText(kSimple, message).ok());
    (*message.mutable_parameters())[key].set_string_value(value);
    EXPECT_FALSE(ConvertConfig(message, "").ok()) << key << " " << value;
  }
}

TEST(Config, TakesWhatTheBackEndCompleted) {
  ConfigMessage message;
  message.set_name("m");
  message.set_backend("b");
  SetDefaults(message);
  auto config = ConvertConfig(message, "");
  ASSERT_TRUE(config.ok());
  config->inputs.push_back({"x", DType::kString, {1}, Dims(), true, false, {}});
  config->outputs.push_back({"y", DType::kBF16, {-1, 2}, {}, false, false, {}});
  config->max_batch_size = 4;
  config->batching.emplace();
  UpdateMessage(*config, message);
  ConfigMessage sent;
  ASSERT_TRUE(sent.ParseFromString(config->proto));
  EXPECT_EQ(sent.input(0).data_type(), inference::TYPE_STRING);
  EXPECT_TRUE(sent.input(0).optional());
  EXPECT_TRUE(sent.input(0).has_reshape());
  EXPECT_EQ(sent.output(0).dims(0), -1);
  EXPECT_EQ(sent.dynamic_batching().preferred_batch_size(0), 4);
  EXPECT_NE(config->json.find(R"("max_batch_size":4)"), std::string::npos);
}

TEST(Config, RefusesNamesThatLeaveTheRepository) {
  for (const char* name : {"a", "a.b", "model-1_x", "\u00e4"}) EXPECT_TRUE(CheckModelName(name).ok()) << name;
  for (const char* name : {"", ".", "..", "...", "a/b", "../a", "a\\b", "a\n"})
    EXPECT_FALSE(CheckModelName(name).ok()) << name;
  EXPECT_FALSE(CheckModelName(std::string("a\0b", 3)).ok());
  EXPECT_FALSE(CheckModelName(std::string(300, 'a')).ok());
}

}  // namespace
}  // namespace tern::server
