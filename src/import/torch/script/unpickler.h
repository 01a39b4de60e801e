// The machine that a pickle describes: opcodes that push data on a stack.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/torch/script/pickle.h"

namespace tern::torch::script {

class Unpickler {
 public:
  // `file_size` is the size of the file that contains the pickle, perhaps compressed. It bounds the memory.
  Unpickler(std::string_view bytes, size_t file_size) : bytes_(bytes), file_size_(file_size) {}
  Result<Pickle> Run();

 private:
  Status Step(unsigned char opcode);
  Status Constant(unsigned char opcode);
  Status Container(unsigned char opcode);
  Status Memo(unsigned char opcode);
  Status Construct(unsigned char opcode);

  Result<std::string_view> Take(size_t size);
  Result<uint64_t> TakeNumber(size_t size);  // little-endian
  Result<std::string_view> TakeLine();
  Status PushText(size_t length_size, Pickled::Kind kind);
  Status PushLong(size_t length_size);

  Pickled* New(Pickled::Kind kind);
  // Counts the bytes that a copy of earlier data takes. Fails if all copies exceed the size of the
  // pickle by more than kMaxCopied, because a few opcodes can copy the same data again and again.
  Status Copy(size_t bytes);
  Pickled* Push(Pickled::Kind kind);
  Result<Pickled*> Pop();
  Result<std::vector<const Pickled*>> PopToMark();
  Status PushTuple(size_t count);
  Result<Pickled*> Top(Pickled::Kind kind);

  Status PushGlobal(std::string_view module, std::string_view name);
  Status Reduce();
  Status Build();
  Status Storage();
  Result<Pickled*> Rebuild(const Pickled& function, const Pickled& arguments);
  Result<Pickled*> RebuildTensor(const Pickled& arguments, bool typed);
  Result<Pickled*> RebuildDict(const Pickled& arguments);
  template <class... A> Status Bad(const A&... a) const {
    return InvalidModel("pickle, byte ", at_, ": ", StrCat(a...));
  }

  std::string_view bytes_;
  size_t file_size_, at_ = 0, copied_ = 0;
  Pickle result_;
  std::vector<Pickled*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, Pickled*> memo_;
};

}  // namespace tern::torch::script
