// What front ends see of a model that generates text.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "server/generate/generation.h"
#include "server/generate/statistics.h"

namespace tern::server {

class ChatTemplate;

// The values of options that a request does not set, from generation_config.json.
struct GeneratorDefaults {
  double temperature = 1, top_p = 1, repetition_penalty = 1;
  int64_t top_k = 0;
};

struct GeneratorInfo {
  std::shared_ptr<const data::Tokenizer> tokenizer;
  std::vector<int64_t> eos;  // tokens that end a text
  int64_t context = 0;       // the largest number of tokens of a prompt and its completion
  int64_t vocabulary = 0;    // tokens that the model knows
  GeneratorDefaults defaults;
  std::shared_ptr<const ChatTemplate> chat;  // null: the model has none
  std::string no_chat;                       // why chat is null
  std::string bos_text, eos_text;            // for the chat template
  int64_t created = 0;                       // when it was loaded, in seconds since 1970
};

// Thread-safe.
class TextGenerator {
 public:
  virtual ~TextGenerator() = default;
  virtual const GeneratorInfo& info() const = 0;
  // Starts the sequences of one request. If it fails, none of them gets an event.
  virtual Status Generate(const Generations& generations) = 0;
  virtual const GenerationStatistics& generated() const = 0;
  virtual int64_t running() const = 0;
  virtual int64_t waiting() const = 0;
  virtual double cache_usage() const = 0;  // 0 to 1
};

}  // namespace tern::server
