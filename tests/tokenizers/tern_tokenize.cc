// Reads commands from standard input and writes the results of a tokenizer, for comparison with the
// `tokenizers` package. Numbers are little-endian and of 32 bits; a string is its length and its bytes.
//   L PATH              loads a file; answers a string: "" or the error
//   E FLAGS N STRING... encodes N texts as one batch; answers an encoding for each, or an error
//                       flags: 1 special tokens, 2 pairs (two strings per text)
//   B N STRING...       keeps N texts for R; answers ""
//   R                   encodes the kept texts one by one; answers the CPU time in nanoseconds as a string
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace {

using tern::data::Encoding;
using tern::data::Tokenizer;

uint32_t ReadNumber() {
  uint32_t n = 0;
  if (std::fread(&n, 4, 1, stdin) != 1) std::exit(2);
  return n;
}

std::string ReadText() {
  std::string text(ReadNumber(), '\0');
  if (!text.empty() && std::fread(text.data(), text.size(), 1, stdin) != 1) std::exit(2);
  return text;
}

void Write(int64_t n) {
  const auto value = static_cast<int32_t>(n);
  std::fwrite(&value, 4, 1, stdout);
}

void Write(const std::string& text) {
  Write(static_cast<int64_t>(text.size()));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

template <class T> void WriteAll(const std::vector<T>& list) {
  for (const T& item : list) Write(item);
}

std::string Decoded(const Tokenizer& tokenizer, const std::vector<int64_t>& ids, bool skip_special_tokens) {
  const auto text = tokenizer.Decode(ids, skip_special_tokens);
  return text.ok() ? *text : "error: " + text.status().ToString();
}

void WriteEncoding(const Tokenizer& tokenizer, const Encoding& e) {
  Write("");
  Write(static_cast<int64_t>(e.size()));
  for (const auto* list :
       {&e.ids, &e.type_ids, &e.attention_mask, &e.special_tokens_mask, &e.words, &e.sequence_ids})
    WriteAll(*list);
  for (const auto& [begin, end] : e.offsets) {
    Write(static_cast<int64_t>(begin));
    Write(static_cast<int64_t>(end));
  }
  WriteAll(e.tokens);
  Write(Decoded(tokenizer, e.ids, true));
  Write(Decoded(tokenizer, e.ids, false));
}

void RunEncode(const Tokenizer& tokenizer) {
  const uint32_t flags = ReadNumber(), count = ReadNumber();
  const bool special = flags & 1;
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (uint32_t i = 0; i < count; ++i) {
    std::string first = ReadText();
    if (flags & 2)
      pairs.emplace_back(std::move(first), ReadText());
    else
      texts.push_back(std::move(first));
  }
  const auto result =
      flags & 2 ? tokenizer.EncodePairBatch(pairs, special) : tokenizer.EncodeBatch(texts, special);
  for (uint32_t i = 0; i < count; ++i) {
    if (result.ok())
      WriteEncoding(tokenizer, (*result)[i]);
    else
      Write(result.status().ToString());
  }
}

// Returns the CPU time in nanoseconds.
std::string Time(const Tokenizer& tokenizer, const std::vector<std::string>& texts) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
  };
  const int64_t start = now();
  for (const std::string& text : texts)
    if (!tokenizer.Encode(text).ok()) return "failed";
  return std::to_string(now() - start);
}

}  // namespace

int main() {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> texts;
  for (int command = std::getchar(); command != EOF; command = std::getchar()) {
    if (command == 'L') {
      auto loaded = Tokenizer::Load(ReadText());
      Write(loaded.ok() ? std::string() : loaded.status().ToString());
      tokenizer = loaded.ok() ? *loaded : nullptr;
    } else if (!tokenizer) {
      return 2;
    } else if (command == 'E') {
      RunEncode(*tokenizer);
    } else if (command == 'B') {
      texts.resize(ReadNumber());
      for (std::string& text : texts) text = ReadText();
      Write("");
    } else if (command == 'R') {
      Write(Time(*tokenizer, texts));
    } else {
      return 2;
    }
    std::fflush(stdout);
  }
  return 0;
}
