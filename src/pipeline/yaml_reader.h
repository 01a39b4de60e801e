// Reads values of a YAML document. Errors name the file, the line and the key.
#pragma once
#include <yaml-cpp/yaml.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::pipeline {

inline constexpr size_t kMaxYamlBytes = size_t{1} << 20;

// A node of the document, and the keys that lead to it.
class YamlValue {
 public:
  // `line` is the line of the key. Errors name it if the node has no position. The first line is 1.
  YamlValue(YAML::Node node, std::string file, std::string key, int line)
      : node_(std::move(node)), file_(std::move(file)), key_(std::move(key)), line_(line) {}

  // Parses a document. Fails if it has more than kMaxYamlBytes bytes or uses aliases, which could multiply
  // its size.
  static Result<YamlValue> Parse(std::string_view text, const std::string& file);

  int line() const { return node_.Mark().is_null() ? line_ : node_.Mark().line + 1; }
  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  bool is_scalar() const { return node_.IsScalar(); }
  bool is_null() const { return node_.IsNull(); }
  const std::string& key() const { return key_; }
  const std::string& file() const { return file_; }
  const std::string& scalar() const { return node_.Scalar(); }

  // Returns an error at this place: "FILE, line N: 'KEY': text", without 'KEY' at the top level.
  template <class... A> Status Error(const A&... text) const { return ErrorText(StrCat(text...)); }

  Status Text(std::string& out) const;
  // Reads the name of a file. It must be relative and must not contain "..", so that a pipeline that somebody
  // sends to a server cannot read other files.
  Status File(std::string& out) const;
  Status Choice(const std::vector<std::string>& choices, std::string& out) const;
  Status Bool(bool& out) const;
  Status Int(int64_t low, int64_t high, int& out) const;
  Status Int64(int64_t low, int64_t high, int64_t& out) const;
  // Reads a number or a fraction such as 1/255.
  Status Number(double low, double high, double& out) const;
  Status Numbers(std::vector<double>& out) const;  // a number or a list of at most 4096 numbers
  Status Texts(std::vector<std::string>& out) const;
  // Reads "224" as width 224 and height 0, and "320x240" as both. A number may be at most `high`.
  Status Size(int high, int& width, int& height) const;

  // Calls `member` with each key and value. Fails if a key is repeated.
  Status Members(const std::function<Status(const std::string& key, const YamlValue& value)>& member) const;
  Status Items(const std::function<Status(const YamlValue& item)>& item) const;
  // Returns the error for an unknown key, with the closest of the known keys.
  Status Unknown(std::string_view what, const std::string& name, const std::vector<std::string>& known) const;

 private:
  Status ErrorText(const std::string& text) const;
  YAML::Node node_;
  std::string file_, key_;
  int line_;
};

}  // namespace tern::pipeline
