// Reads Python pickles without running anything. Only the classes and functions of a fixed list are accepted,
// and they only build data.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace tern::torch::script {

// A piece of unpickled data. Several pieces may refer to one piece, and a piece may refer to itself.
struct Pickled {
  enum class Kind {
    kNone,
    kBool,     // number
    kInt,      // number
    kFloat,    // real
    kText,     // text
    kBytes,    // text
    kList,     // items
    kTuple,    // items
    kDict,     // items are key, value, key, value, …
    kGlobal,   // text is "module.name"
    kStorage,  // text is the key of the storage, dtype its element type
    kTensor,   // text, dtype, dims, strides, number (the offset in elements)
    kDevice,   // text
    kDType,    // dtype
    kObject,   // text is the class "__torch__.a.B"; items[0], if any, is its state
    kEnum,     // text is the class, items[0] the value
  };
  Kind kind = Kind::kNone;
  int64_t number = 0;
  double real = 0;
  std::string text;
  DType dtype = DType::kInvalid;
  Dims dims, strides;
  std::vector<const Pickled*> items;

  bool Is(Kind k) const { return kind == k; }
  const Pickled* Find(std::string_view key) const;  // an item of a dict; null if there is none
};

class Pickle {
 public:
  // `bytes` is untrusted. Errors name the offset and what is not allowed. `file_size` is the size of the file
  // that contains the pickle, which may be compressed there. This size bounds the memory of the result.
  static Result<Pickle> Parse(std::string_view bytes, size_t file_size);
  const Pickled& root() const { return *root_; }

 private:
  friend class Unpickler;
  std::deque<Pickled> pieces_;
  const Pickled* root_ = nullptr;
};

}  // namespace tern::torch::script
