// Parses protobuf messages of mapped files.
#pragma once
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <algorithm>
#include <string_view>

#include "core/mapped_files.h"

namespace tern::import {

// Passes a mapped file to the parser in blocks. Releases the pages of each block after the parser has read
// it, because the parsed message contains a copy.
class BlockStream : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit BlockStream(std::string_view bytes) : bytes_(bytes) {}

  bool Next(const void** data, int* size) override {
    if (begin_ < end_) DropMappedPages(bytes_.data() + begin_, end_ - begin_);
    begin_ = end_;
    if (begin_ == bytes_.size()) return false;
    end_ = std::min(bytes_.size(), begin_ + kBlock);
    *data = bytes_.data() + begin_;
    *size = static_cast<int>(end_ - begin_);
    return true;
  }
  void BackUp(int count) override { end_ -= static_cast<size_t>(count); }
  bool Skip(int count) override {
    begin_ = end_;
    end_ = std::min(bytes_.size(), end_ + static_cast<size_t>(count));
    return end_ - begin_ == static_cast<size_t>(count);
  }
  int64_t ByteCount() const override { return static_cast<int64_t>(end_); }

 private:
  static constexpr size_t kBlock = size_t{4} << 20;
  std::string_view bytes_;
  size_t begin_ = 0, end_ = 0;  // the last returned block is [begin_, end_)
};

// Returns false if the bytes are not a message, if they are larger than protobuf's limit of 2 GiB, or if
// messages are nested deeper than `max_nesting`.
template <class Message> bool ParseMapped(std::string_view bytes, int max_nesting, Message& message) {
  if (bytes.size() > INT32_MAX) return false;
  BlockStream stream(bytes);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetRecursionLimit(max_nesting);
  return message.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

}  // namespace tern::import
