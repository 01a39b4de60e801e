#include "server/dialects/openai/request_reader.h"

#include <cmath>

namespace tern::server {

using Kind = JsonReader::Kind;

Status RequestReader::Text(std::string& value) {
  if (json_.Peek() != Kind::kString) return Must("a string");
  return json_.String(value);
}

Status RequestReader::Bool(bool& value) {
  if (json_.Peek() != Kind::kBool) return Must("true or false");
  return json_.Bool(value);
}

Status RequestReader::Integer(int64_t least, int64_t most, int64_t& value) {
  JsonNumber number;
  if (json_.Peek() != Kind::kNumber) return Must("an integer");
  TERN_TRY(json_.Number(number));
  if (!number.integer || !ToInt64(number, value).ok()) return Must("an integer");
  if (value < least) return InvalidArgument("'", member_, "' is ", value, ", must be at least ", least);
  if (value > most) return InvalidArgument("'", member_, "' is ", value, ", must be at most ", most);
  return {};
}

Status RequestReader::Number(double least, double most, double& value) {
  JsonNumber number;
  if (json_.Peek() != Kind::kNumber) return Must("a number");
  TERN_TRY(json_.Number(number));
  if (!ToDouble(number, value).ok() || !std::isfinite(value)) return Must("a number");
  if (value < least || value > most)
    return InvalidArgument("'", member_, "' is ", value, ", must be from ", least, " to ", most);
  return {};
}

Status RequestReader::Optional(int64_t least, int64_t most, std::optional<int64_t>& value) {
  int64_t read = 0;
  TERN_TRY(Integer(least, most, read));
  value = read;
  return {};
}

Status RequestReader::Optional(double least, double most, std::optional<double>& value) {
  double read = 0;
  TERN_TRY(Number(least, most, read));
  value = read;
  return {};
}

Status RequestReader::Any(TemplateValue& value) { return ReadValue(json_, value, values_left_); }

Status RequestReader::Token(std::vector<int64_t>& out) {
  if (--tokens_left_ < 0) return InvalidArgument("'", member_, "' has too many tokens");
  int64_t token = 0;
  TERN_TRY(Integer(0, INT32_MAX, token));
  out.push_back(token);
  return {};
}

Status RequestReader::PromptList(int64_t most, std::vector<PromptInput>& out) {
  if (json_.Peek() != Kind::kArray) return Must("a string, a list of strings or lists of tokens");
  bool numbers = false;
  const Status status = json_.Array([&]() -> Status {
    const Kind kind = json_.Peek();
    if (numbers || (kind == Kind::kNumber && out.empty())) {
      if (out.empty()) out.emplace_back().is_tokens = true;
      numbers = true;
      return Token(out[0].tokens);
    }
    if (static_cast<int64_t>(out.size()) >= most)
      return InvalidArgument("'", member_, "' has more than ", most, " elements");
    PromptInput& prompt = out.emplace_back();
    prompt.is_tokens = kind == Kind::kArray;
    if (kind == Kind::kArray) return json_.Array([&] { return Token(prompt.tokens); });
    return Text(prompt.text);
  });
  TERN_TRY(status);
  return out.empty() ? Must("not empty") : Status();
}

}  // namespace tern::server
