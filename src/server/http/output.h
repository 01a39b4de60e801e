// Bytes that wait to be written to a stream. They are texts, and buffers that are not copied.
#pragma once
#include <string>
#include <vector>

#include "core/buffer.h"
#include "server/net/stream.h"

namespace tern::server {

class Output {
 public:
  // Returns a text to which the caller appends. The reference is valid until another function is called.
  std::string& Text();
  void Add(std::string text);  // moves a long text, copies a short one
  void Add(const Buffer& bytes);
  void Add(Output&& other);
  bool empty() const { return first_ == used_ || (used_ - first_ == 1 && left(pieces_[first_]) == 0); }
  size_t bytes() const;
  size_t memory() const;  // bytes of the texts' memory, including texts that are already written
  // Writes until everything is written (kDone) or the stream takes no more. Sets the number of bytes written.
  Stream::Outcome Flush(Stream& stream, size_t& written);
  void Clear();

 private:
  struct Piece {
    std::string text;
    Buffer buffer;  // if it is defined, the piece is this buffer instead of `text`
    size_t sent = 0;
  };
  static size_t left(const Piece& piece) {
    return (piece.buffer.defined() ? piece.buffer.size() : piece.text.size()) - piece.sent;
  }
  Piece& Append();
  void Sent(size_t bytes);
  void Compact();

  // pieces_[first_, used_) wait to be written. The other pieces are empty and keep the memory of their texts
  // for reuse.
  std::vector<Piece> pieces_;
  size_t first_ = 0, used_ = 0;
};

}  // namespace tern::server
