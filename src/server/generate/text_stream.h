// Turns the tokens of a sequence into text, piece by piece, and finds texts that end it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace tern::server {

// Not thread-safe. The pieces, joined, are the decoded text of all tokens up to the stop text.
class TextStream {
 public:
  // `prompt` are the tokens before those of the sequence. Their text is not returned.
  TextStream(std::shared_ptr<const data::Tokenizer> tokenizer, std::vector<std::string> stop,
             const std::vector<int64_t>& prompt);

  // Adds a token and returns the text that later tokens cannot change. An incomplete character, and text that
  // may be the beginning of a stop text, are returned later.
  Result<std::string> Add(int64_t token);
  // Returns the rest of the text. Call it after the last token.
  Result<std::string> Finish();
  bool stopped() const { return stopped_; }  // a stop text was found

 private:
  Result<std::string> Fresh(bool last);
  std::string Release(std::string fresh, bool last);

  const std::shared_ptr<const data::Tokenizer> tokenizer_;
  const std::vector<std::string> stop_;
  // tokens_[context_, read_) is text that was returned. It is decoded again with the tokens that follow,
  // because some tokenizers write the first token of a text without its space.
  std::vector<int64_t> tokens_;
  size_t context_ = 0, read_ = 0;
  std::string held_;  // may be the beginning of a stop text
  bool stopped_ = false;
};

}  // namespace tern::server
