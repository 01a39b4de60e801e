// Owners for the handles of the C API, for its tests.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "bindings/test_models.h"
#include "tern/tern.h"

namespace tern::test {

struct Free {
  void operator()(TernStatus* p) const { tern_status_free(p); }
  void operator()(TernConfig* p) const { tern_config_free(p); }
  void operator()(TernPredictor* p) const { tern_predictor_free(p); }
  void operator()(TernValue* p) const { tern_value_free(p); }
  void operator()(TernRunOptions* p) const { tern_run_options_free(p); }
  void operator()(TernCancel* p) const { tern_cancel_free(p); }
  void operator()(TernProfile* p) const { tern_profile_free(p); }
  void operator()(TernStrings* p) const { tern_strings_free(p); }
};
template <class T> using Owned = std::unique_ptr<T, Free>;

// The code and message of a status, which this object frees.
struct Outcome {
  Outcome(TernStatus* status)  // NOLINT: implicit on purpose
      : code(tern_status_code(status)), message(tern_status_message(status)) {
    tern_status_free(status);
  }
  bool ok() const { return code == TERN_OK; }
  bool Says(const std::string& words) const { return message.find(words) != std::string::npos; }
  TernCode code;
  std::string message;
};

inline void ExpectOk(TernStatus* status) {
  const Outcome outcome(status);
  EXPECT_TRUE(outcome.ok()) << outcome.message;
}

inline void ExpectFails(TernStatus* status, TernCode code, const std::string& words) {
  const Outcome outcome(status);
  EXPECT_EQ(outcome.code, code) << outcome.message;
  EXPECT_TRUE(outcome.Says(words)) << outcome.message;
}

// Calls a function with an out parameter and returns the object, or null after a failed expectation.
template <class T, class F, class... Arguments> Owned<T> Make(F function, Arguments... arguments) {
  T* made = nullptr;
  ExpectOk(function(arguments..., &made));
  EXPECT_NE(made, nullptr);
  return Owned<T>(made);
}

inline Owned<TernPredictor> Create(const Owned<TernConfig>& config) {
  return Make<TernPredictor>(tern_predictor_create, config.get());
}

inline Owned<TernConfig> ConfigOf(const void* model, size_t bytes) {
  Owned<TernConfig> config(tern_config_new());
  tern_config_set_model_buffer(config.get(), model, bytes);
  tern_config_set_threads(config.get(), 1);
  return config;
}

inline Owned<TernConfig> DigitsConfig() {
  Owned<TernConfig> config(tern_config_new());
  tern_config_set_model_path(config.get(), TERN_DIGITS);
  tern_config_set_threads(config.get(), 1);
  return config;
}

inline Owned<TernPredictor> Digits() { return Create(DigitsConfig()); }
inline Owned<TernPredictor> Kinds() { return Create(ConfigOf(kKindsModel, sizeof kKindsModel - 1)); }

inline TernPort* InputOf(const Owned<TernPredictor>& p, const char* name) {
  TernPort* port = nullptr;
  ExpectOk(tern_predictor_input(p.get(), name, &port));
  return port;
}
inline TernPort* OutputOf(const Owned<TernPredictor>& p, const char* name) {
  TernPort* port = nullptr;
  ExpectOk(tern_predictor_output(p.get(), name, &port));
  return port;
}

// Feeds `rows` pictures to the digit classifier.
inline void FeedDigits(const Owned<TernPredictor>& p, int64_t rows) {
  const std::vector<float> pixels(static_cast<size_t>(rows) * 28 * 28, 0.25f);
  const int64_t dims[] = {rows, 1, 28, 28};
  ExpectOk(tern_port_copy_from(tern_predictor_input_at(p.get(), 0), TERN_F32, pixels.data(),
                               pixels.size() * sizeof(float), dims, 4));
}

}  // namespace tern::test
