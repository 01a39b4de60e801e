// Values of chat templates, which are also JSON documents.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "server/http/json_reader.h"

namespace tern::server {

class TemplateValue;
using ValueList = std::vector<TemplateValue>;
// In the order of insertion. Lists of members are short, so a search is fast enough.
using ValueMembers = std::vector<std::pair<std::string, TemplateValue>>;

// Lists and objects are shared: a copy refers to the same elements, as in Python.
class TemplateValue {
 public:
  struct Undefined {};
  struct None {};
  TemplateValue() : data_(Undefined()) {}
  static TemplateValue Null() { return TemplateValue(Data(None())); }
  static TemplateValue Bool(bool value) { return TemplateValue(Data(value)); }
  static TemplateValue Int(int64_t value) { return TemplateValue(Data(value)); }
  static TemplateValue Float(double value) { return TemplateValue(Data(value)); }
  static TemplateValue Text(std::string value) { return TemplateValue(Data(std::move(value))); }
  static TemplateValue List(ValueList elements = {});
  static TemplateValue Object(ValueMembers members = {});

  bool undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool null() const { return std::holds_alternative<None>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_int() || is_float() || is_bool(); }
  bool is_text() const { return std::holds_alternative<std::string>(data_); }
  bool is_list() const { return std::holds_alternative<ListPtr>(data_); }
  bool is_object() const { return std::holds_alternative<ObjectPtr>(data_); }

  // These functions require a value of their type.
  const std::string& text() const { return std::get<std::string>(data_); }
  ValueList& list() const { return *std::get<ListPtr>(data_); }
  ValueMembers& members() const { return *std::get<ObjectPtr>(data_); }
  int64_t integer() const;  // of a bool, too
  double number() const;    // of a bool, an integer or a float

  bool truth() const;          // as in Python
  const char* kind() const;    // "list"
  std::string ToText() const;  // as str() of Python
  // Returns the member of an object, or an undefined value.
  TemplateValue Member(std::string_view name) const;
  void Set(const std::string& name, TemplateValue value) const;  // of an object
  bool Equals(const TemplateValue& other) const;
  // Appends JSON in the form of Python's json.dumps(ensure_ascii=False). indent < 0: one line.
  void AppendJson(std::string& out, int indent = -1, int depth = 0) const;

 private:
  using ListPtr = std::shared_ptr<ValueList>;
  using ObjectPtr = std::shared_ptr<ValueMembers>;
  using Data = std::variant<Undefined, None, bool, int64_t, double, std::string, ListPtr, ObjectPtr>;
  explicit TemplateValue(Data data) : data_(std::move(data)) {}
  Data data_;
};

// Reads the next value. A number that is not an integer of 64 bits is a float. A value takes more memory than
// its text, so the number of values is limited: each value subtracts 1 from `budget`.
Status ReadValue(JsonReader& json, TemplateValue& value, int64_t& budget);
// Parses a whole document of at most a million values.
Result<TemplateValue> ParseValue(std::string_view text, int max_depth = 64);

}  // namespace tern::server
