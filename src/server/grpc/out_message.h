// One gRPC message to send. Small parts are in one string. Large tensors are kept by reference.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"

namespace tern::server {

struct OutMessage {
  // Space before the message for bytes that are known last: the prefix of gRPC, and the tag and length of an
  // enclosing field.
  static constexpr size_t kSlack = 12;

  struct Tensor {
    size_t head_end = 0;  // `bytes` follow head[0, head_end)
    Buffer bytes;
  };

  OutMessage() : head(kSlack, '\0') {}

  std::string head;
  size_t begin = kSlack;  // the first byte of `head` that belongs to the message
  std::vector<Tensor> tensors;

  size_t size() const {
    size_t sum = head.size() - begin;
    for (const Tensor& tensor : tensors) sum += tensor.bytes.size();
    return sum;
  }

  // Appends bytes. At most kMaxCopy bytes are copied. More bytes are kept by reference.
  void Add(const Buffer& bytes) {
    constexpr size_t kMaxCopy = 4096;
    if (bytes.size() <= kMaxCopy)
      head.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    else
      tensors.push_back({head.size(), bytes});
  }

  // Adds bytes before the message. All calls together can add at most kSlack bytes.
  void Prepend(std::string_view bytes) {
    begin -= bytes.size();
    head.replace(begin, bytes.size(), bytes);
  }

  // Parts with an even number are pieces of `head`, parts with an odd number are tensors. Some parts are
  // empty.
  size_t part_count() const { return tensors.size() * 2 + 1; }
  std::string_view Part(size_t i) const {
    const size_t k = i / 2;
    if (i % 2) return {reinterpret_cast<const char*>(tensors[k].bytes.data()), tensors[k].bytes.size()};
    const size_t from = k ? tensors[k - 1].head_end : begin;
    const size_t to = k < tensors.size() ? tensors[k].head_end : head.size();
    return {head.data() + from, to - from};
  }
};

}  // namespace tern::server
