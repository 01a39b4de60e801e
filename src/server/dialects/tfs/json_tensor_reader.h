// Reads tensors in the JSON form of TensorFlow Serving: a value, or lists in lists, without a shape.
#pragma once
#include <string>

#include "server/core/message.h"
#include "server/http/json_reader.h"

namespace tern::server::tfs {

// Returns whether the next value is {"b64": "…"}. Does not move the reader.
bool IsBase64(JsonReader& json);
// Reads an object {"b64": "…"} and appends its bytes.
Status ReadBase64(JsonReader& json, std::string& bytes);
// Returns the start of the JSON value at `position`, for messages.
std::string_view ValueText(JsonReader& json, size_t position);

// Collects the elements of one input. All items must have the same shape.
class JsonTensorReader {
 public:
  JsonTensorReader(std::string name, DType dtype) : name_(std::move(name)), dtype_(dtype) {}

  // Reads a value or nested lists. Messages are those of TensorFlow Serving.
  Status AddItem(JsonReader& json);
  int64_t items() const { return items_; }
  // Returns the tensor of all items. If `batched`, its first dim is the number of items. Otherwise there is
  // one item.
  WireTensor Take(bool batched);

 private:
  Status ReadList(JsonReader& json, size_t level);
  Status ReadValue(JsonReader& json, size_t level);
  Status CloseList(size_t level, int64_t size);
  Status AddElement(JsonReader& json);
  Status AddText(JsonReader& json);
  Status CheckItem() const;

  std::string name_;
  DType dtype_;
  std::string bytes_;
  std::string storage_;
  int64_t items_ = 0;
  Dims dims_;             // of the first item
  int64_t elements_ = 0;  // of the first item
  // The item that is being read.
  Dims open_;          // -1 for a level whose size is not known yet
  int64_t leaf_ = -1;  // the level of values; -1: none was read yet
  int64_t count_ = 0;
};

}  // namespace tern::server::tfs
