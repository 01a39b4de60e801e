#include "pipeline/yaml_reader.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/closest.h"
#include "data/utf8.h"
#include "yaml-cpp/eventhandler.h"

namespace tern::pipeline {
namespace {

// Finds aliases. YAML::Load resolves them to shared nodes, so a document of a few lines could have billions
// of values.
class AliasFinder : public YAML::EventHandler {
 public:
  bool found = false;
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { found = true; }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}
};

bool HasAlias(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  AliasFinder finder;
  parser.HandleNextDocument(finder);
  return finder.found;
}

bool ParseFraction(const std::string& text, double& out) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return ParseDouble(text, out);
  double over = 0, under = 0;
  const std::string_view view = text;
  if (!ParseDouble(view.substr(0, slash), over) || !ParseDouble(view.substr(slash + 1), under)) return false;
  out = over / under;
  return under != 0;
}

// Replaces a message of yaml-cpp by one that the author of the file understands.
std::string Readable(const YAML::Exception& e) {
  const std::pair<const char*, const char*> texts[] = {
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "a '{' before here has no '}'"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a '[' before here has no ']'"},
      {YAML::ErrorMsg::END_OF_MAP, "expected another key here; is the indentation that of the lines before?"},
      {YAML::ErrorMsg::END_OF_SEQ, "expected '- ' here; is the indentation that of the lines before?"}};
  for (const auto& [theirs, ours] : texts)
    if (e.msg == theirs) return ours;
  return e.msg;
}

}  // namespace

Result<YamlValue> YamlValue::Parse(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlBytes)
    return InvalidArgument(file, ": has ", text.size(), " bytes, at most ", kMaxYamlBytes, " are allowed");
  if (!data::DecodeUtf8(std::string(text))) return InvalidArgument(file, ": is not valid UTF-8");
  try {
    if (HasAlias(std::string(text))) return InvalidArgument(file, ": aliases (*name) are not allowed");
    return YamlValue(YAML::Load(std::string(text)), file, "", 1);
  } catch (const YAML::Exception& e) {
    return InvalidArgument(file, ", line ", e.mark.is_null() ? 0 : e.mark.line + 1, ": ", Readable(e));
  }
}

Status YamlValue::ErrorText(const std::string& text) const {
  return InvalidArgument(file_, ", line ", line(), ": ", key_.empty() ? "" : StrCat("'", key_, "': "), text);
}

Status YamlValue::Text(std::string& out) const {
  if (!node_.IsScalar() || node_.Scalar().empty()) return Error("expected a text");
  out = node_.Scalar();
  return {};
}

Status YamlValue::File(std::string& out) const {
  TERN_TRY(Text(out));
  const std::filesystem::path path(out);
  bool inside = path.is_relative() && out.find('\0') == std::string::npos;
  for (const auto& part : path) inside &= part != "..";
  return inside ? Status() : Error("'", out, "' must be a file beside or below the pipeline");
}

Status YamlValue::Choice(const std::vector<std::string>& choices, std::string& out) const {
  TERN_TRY(Text(out));
  if (std::find(choices.begin(), choices.end(), out) != choices.end()) return {};
  return Error("'", out, "' is not one of ", Join(choices, ", "));
}

Status YamlValue::Bool(bool& out) const {
  if (node_.IsScalar() && YAML::convert<bool>::decode(node_, out)) return {};
  return Error("expected true or false");
}

Status YamlValue::Int64(int64_t low, int64_t high, int64_t& out) const {
  if (!node_.IsScalar() || !ParseInt(node_.Scalar(), out)) return Error("expected an integer");
  if (out >= low && out <= high) return {};
  return Error("must be ", low, " to ", high, ", got ", out);
}

Status YamlValue::Int(int64_t low, int64_t high, int& out) const {
  int64_t value = 0;
  TERN_TRY(Int64(low, std::min<int64_t>(high, INT32_MAX), value));
  out = static_cast<int>(value);
  return {};
}

Status YamlValue::Number(double low, double high, double& out) const {
  if (!node_.IsScalar() || !ParseFraction(node_.Scalar(), out)) return Error("expected a number");
  if (out >= low && out <= high) return {};
  return Error("must be ", low, " to ", high, ", got ", out);
}

Status YamlValue::Numbers(std::vector<double>& out) const {
  out.clear();
  if (!node_.IsSequence()) return Number(-1e30, 1e30, out.emplace_back());
  return Items([&](const YamlValue& item) -> Status {
    if (out.size() >= 4096) return Error("has more than 4096 numbers");
    return item.Number(-1e30, 1e30, out.emplace_back());
  });
}

Status YamlValue::Texts(std::vector<std::string>& out) const {
  out.clear();
  return Items([&](const YamlValue& item) { return item.Text(out.emplace_back()); });
}

Status YamlValue::Size(int high, int& width, int& height) const {
  int64_t w = 0, h = 0;
  const std::string text = node_.IsScalar() ? node_.Scalar() : "";
  const size_t x = text.find('x');
  const std::string_view view = text;
  const bool two = x != std::string::npos;
  if (!ParseInt(view.substr(0, two ? x : view.size()), w) || (two && !ParseInt(view.substr(x + 1), h)))
    return Error("expected a size such as 224 or 320x240");
  if (w < 1 || w > high || h < (two ? 1 : 0) || h > high)
    return Error("a side must be 1 to ", high, " pixels");
  width = static_cast<int>(w);
  height = static_cast<int>(h);
  return {};
}

Status YamlValue::Members(
    const std::function<Status(const std::string& key, const YamlValue& value)>& member) const {
  if (!node_.IsMap()) return Error("expected keys with values");
  std::set<std::string> seen;
  for (const auto& pair : node_) {
    const YamlValue name(pair.first, file_, key_, line());
    if (!pair.first.IsScalar() || pair.first.Scalar().empty())
      return name.Error("expected the name of a key");
    const std::string& key = pair.first.Scalar();
    if (!seen.insert(key).second) return name.Error("key '", key, "' occurs twice");
    const std::string path = key_.empty() ? key : StrCat(key_, ".", key);
    TERN_TRY(member(key, YamlValue(pair.second, file_, path, name.line())));
  }
  return {};
}

Status YamlValue::Items(const std::function<Status(const YamlValue& item)>& item) const {
  if (!node_.IsSequence()) return Error("expected a list");
  for (const auto& element : node_) TERN_TRY(item(YamlValue(element, file_, key_, line())));
  return {};
}

Status YamlValue::Unknown(std::string_view what, const std::string& name,
                          const std::vector<std::string>& known) const {
  const std::string* best = Closest(name, known);
  if (best) return Error("unknown ", what, " '", name, "'; did you mean '", *best, "'?");
  return Error("unknown ", what, " '", name, "'; known are ", Join(known, ", "));
}

}  // namespace tern::pipeline
