// Reads the members of an OpenAI request, with errors that name the member.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "server/dialects/openai/completion_request.h"
#include "server/http/json_reader.h"

namespace tern::server {

class RequestReader {
 public:
  RequestReader(std::string_view body, int depth) : json_(body, depth) {}

  // Calls `member` with each key of the body, which must be one object.
  template <class F> Status Object(F&& member) {
    if (json_.Peek() != JsonReader::Kind::kObject) {
      TERN_TRY(json_.Skip());
      return InvalidArgument("the body must be a JSON object");
    }
    TERN_TRY(json_.Object([&](std::string_view key) {
      member_ = key;
      return member(key);
    }));
    member_.clear();
    return json_.End();
  }
  template <class F> Status Array(F&& element) { return json_.Array(std::forward<F>(element)); }

  const std::string& member() const { return member_; }  // the member that is read now
  void SetMember(std::string member) { member_ = std::move(member); }
  Status Must(std::string_view what) const { return InvalidArgument("'", member_, "' must be ", what); }

  JsonReader::Kind Peek() { return json_.Peek(); }
  // Reads a null. Returns false if another value follows.
  bool TakeNull() { return json_.Peek() == JsonReader::Kind::kNull && json_.Null().ok(); }
  Status Text(std::string& value);
  Status Bool(bool& value);
  Status Integer(int64_t least, int64_t most, int64_t& value);
  Status Number(double least, double most, double& value);
  Status Optional(int64_t least, int64_t most, std::optional<int64_t>& value);
  Status Optional(double least, double most, std::optional<double>& value);
  Status Any(TemplateValue& value);
  // Reads a list of texts, a list of tokens, or a list of lists of tokens.
  Status PromptList(int64_t most, std::vector<PromptInput>& out);

 private:
  Status Token(std::vector<int64_t>& out);

  JsonReader json_;
  std::string member_;
  int64_t values_left_ = 200'000, tokens_left_ = 4'000'000;
};

}  // namespace tern::server
