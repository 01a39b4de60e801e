// A sequence that an engine is generating.
#pragma once
#include "server/generate/engine.h"

namespace tern::server {

struct GenerationEngine::Active {
  Active(std::shared_ptr<Generation> from, const std::shared_ptr<const data::Tokenizer>& tokenizer);

  const std::shared_ptr<Generation> generation;
  Sampler sampler;
  TextStream text;
  std::unique_ptr<RowBatch> own;  // if the model cannot run batches
  int64_t read = 0;               // tokens of the prompt that the model has read
  int64_t next = 0;               // the last token, which the model has not read yet
  int64_t generated = 0;
  Clock::time_point last_token;
  std::vector<TokenLogprob> logprobs;  // not sent yet
  bool ended = false;                  // has its last event
  bool broken = false;                 // the scores were not finite; perhaps the states are not either
};

}  // namespace tern::server
