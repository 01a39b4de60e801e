// Runs the sequences of one language model. Sequences join and leave the batch between two tokens.
#pragma once
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "data/tokenizer/tokenizer.h"
#include "server/core/model_version.h"
#include "server/generate/generation.h"
#include "server/generate/row_batch.h"
#include "server/generate/sampler.h"
#include "server/generate/statistics.h"
#include "server/generate/text_stream.h"

namespace tern::server {

struct EngineLimits {
  int64_t running = 8;       // sequences that run at the same time
  int64_t waiting = 64;      // sequences that wait; more are refused
  int64_t cache_tokens = 0;  // positions of all rows together; must be set
};

// The sequences of one request.
struct GenerationGroup {
  std::deque<std::shared_ptr<Generation>> waiting;
};

// Accept, Fail and the counters are thread-safe. Step is called by one thread at a time.
class GenerationEngine {
 public:
  GenerationEngine(std::shared_ptr<const CausalModel> model, std::shared_ptr<const data::Tokenizer> tokenizer,
                   std::vector<int64_t> eos, const EngineLimits& limits, ModelVersion& owner);
  ~GenerationEngine();

  // Accepts all sequences of a request, or none. Fails with kInvalidArgument if a sequence is empty, is too
  // long or has unknown tokens, or if the request has more sequences than can run and wait. Fails with
  // kResourceExhausted if too many sequences wait. After a failure, no sequence gets an event.
  Status Accept(const Generations& generations);
  // Reads one part of a prompt, and generates one token for each running sequence. Returns whether another
  // Step is needed.
  bool Step(int threads);
  // Ends all unfinished sequences with this error. If a Step is running, they end at the end of that Step.
  void Fail(const Status& status);

  int64_t running() const { return running_.load(std::memory_order_relaxed); }
  int64_t waiting() const;
  int64_t unfinished() const;  // sequences that were accepted and have not got their last event
  double cache_usage() const;  // 0 to 1
  const GenerationStatistics& statistics() const { return generated_; }
  size_t MemoryBytes() const { return cache_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Active;
  using ActivePtr = std::unique_ptr<Active>;

  Status CheckLength(const Generation& generation) const;
  std::shared_ptr<Generation> NextWaiting();
  bool FitsCache(const Generation& generation) const;
  void DropWaiting(Clock::time_point now);
  void DropRunning(Clock::time_point now);
  void FreeRow(size_t row, bool forget);
  void EndStep(std::unique_lock<std::mutex>& lock);
  void FailRunning(const Status& status);
  bool Dropped(Active& active, Clock::time_point now);
  void Admit();
  void ReadPrompt(int threads);
  Status ReadPart(Active& active, int threads);
  Status Join(ActivePtr& active);
  void Decode(int threads);
  Status DecodeBatch(int threads);
  Status DecodeAlone(Active& active, int threads);
  Status MakeRoom();
  Status ShrinkBatch();
  void CountStep(int rows, Clock::time_point begin, Clock::time_point end, int threads);
  // Chooses the next token of a sequence. Returns false if the sequence has ended.
  bool TakeScores(Active& active, const float* scores);
  void Finish(Active& active, GenerationEvent event);
  void FinishWaiting(const std::shared_ptr<Generation>& generation, Status status);
  void Count(Generation& generation, const GenerationEvent& event);
  void CountMemory();

  const std::shared_ptr<const CausalModel> model_;
  const std::shared_ptr<const data::Tokenizer> tokenizer_;
  const std::vector<int64_t> eos_;
  const EngineLimits limits_;
  ModelVersion& owner_;  // its statistics count the sequences
  GenerationStatistics generated_;

  mutable std::mutex mutex_;
  std::deque<GenerationGroup> groups_;  // requests take turns
  int64_t waiting_ = 0, unfinished_ = 0;
  std::optional<Status> failed_;
  bool stepping_ = false;

  // Used only by Step.
  RowBatch prompt_, batch_;
  ActivePtr reading_;             // its prompt is in prompt_
  std::vector<ActivePtr> slots_;  // by row of batch_; null: a free row
  std::list<ActivePtr> alone_;    // if the model cannot run batches
  int64_t last_part_ = 0;         // tokens of the last part of reading_
  Status failed_rows_;            // why batch_ has lost its rows
  int quiet_steps_ = 0;           // steps in which half of the rows were free
  std::atomic<int64_t> running_{0};
  std::atomic<size_t> cache_bytes_{0};
  std::atomic<int64_t> cache_positions_{0};
};

}  // namespace tern::server
