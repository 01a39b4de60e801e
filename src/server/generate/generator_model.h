// A version of a model that generates text. Clients of the v2 protocol send it `text_input`; the OpenAI front
// end uses TextGenerator.
#pragma once
#include <condition_variable>
#include <mutex>

#include "server/core/model_version.h"
#include "server/generate/engine.h"
#include "server/generate/generator.h"
#include "server/scheduler/executor.h"
#include "server/scheduler/removable.h"

namespace tern::server {

inline constexpr const char* kTextInput = "text_input";
inline constexpr const char* kTextOutput = "text_output";

// Thread-safe. Each execution reads a part of a prompt and makes one token of each running sequence. Other
// models of the server can run between two executions.
class GeneratorModel final : public ModelVersion,
                             public TextGenerator,
                             public Executor::Client,
                             public Removable,
                             public std::enable_shared_from_this<GeneratorModel> {
 public:
  struct Parts {
    std::shared_ptr<const CausalModel> model;
    GeneratorInfo info;
    EngineLimits limits;
    std::chrono::nanoseconds deadline{0};  // of requests; 0: none
    std::shared_ptr<Executor> executor;
  };
  // `config` lists the inputs and outputs that DescribeGenerator sets.
  GeneratorModel(ModelConfig config, std::string version, Parts parts);

  void Submit(std::shared_ptr<Call> call) override;
  size_t MemoryBytes() const override;
  size_t Pending() const override { return static_cast<size_t>(engine_.waiting()); }
  std::vector<std::pair<std::string, double>> Metrics() const override;
  TextGenerator* generator() override { return this; }

  const GeneratorInfo& info() const override { return parts_.info; }
  Status Generate(const Generations& generations) override;
  const GenerationStatistics& generated() const override { return engine_.statistics(); }
  int64_t running() const override { return engine_.running(); }
  int64_t waiting() const override { return engine_.waiting(); }
  double cache_usage() const override { return engine_.cache_usage(); }

  void Work(int threads) override;
  void OnTimer() override {}
  void Drain(std::chrono::milliseconds limit, bool refuse) override;
  bool Drained() const override { return engine_.unfinished() == 0; }

 private:
  Status NotReady() const;

  const Parts parts_;
  GenerationEngine engine_;
  mutable std::mutex mutex_;
  bool working_ = false, draining_ = false;
  std::condition_variable drained_;
};

// Sets the inputs and outputs that clients of the v2 protocol see.
void DescribeGenerator(ModelConfig& config);
// Makes the sequence of a v2 request: `text_input` and the parameters max_tokens, temperature, top_p, top_k,
// seed, stop, stream and others.
Status ReadTextCall(const std::shared_ptr<Call>& call, const GeneratorInfo& info, Generation& generation);

}  // namespace tern::server
