// One gRPC message on its way out: small parts in one string, large tensors by reference.
#pragma once
#include <string>
#include <vector>

#include "core/buffer.h"

namespace tern::server {

struct OutMessage {
  // Space before the message for what is known last: the prefix of gRPC, and the tag and length of an enclosing
  // field.
  static constexpr size_t kSlack = 16;

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

  // Adds bytes at the end: a copy of few bytes, a reference to many.
  void Add(const Buffer& bytes) {
    constexpr size_t kMaxCopy = 4096;
    if (bytes.size() <= kMaxCopy)
      head.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    else
      tensors.push_back({head.size(), bytes});
  }

  // Adds bytes before the message, at most kSlack in all.
  void Prepend(std::string_view bytes) {
    begin -= bytes.size();
    head.replace(begin, bytes.size(), bytes);
  }

  // The parts in order. `visit(data, size, owner)`; owner is null for parts of `head`.
  template <class F> void ForEachPart(F&& visit) const {
    size_t at = begin;
    for (const Tensor& tensor : tensors) {
      if (tensor.head_end > at) visit(head.data() + at, tensor.head_end - at, nullptr);
      visit(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size(), &tensor.bytes);
      at = tensor.head_end;
    }
    if (head.size() > at) visit(head.data() + at, head.size() - at, nullptr);
  }
};

}  // namespace tern::server
