#include "import/torch/script/unpickler.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "import/torch/script/globals.h"

namespace tern::torch::script {

using Kind = Pickled::Kind;

namespace {

constexpr size_t kMaxCopied = size_t{64} << 20;  // bytes
// An opcode of one byte may make a piece of more than a hundred bytes. All pieces together may take
// kFreeMemory bytes, and kMemoryPerByte bytes for each byte of the file.
constexpr size_t kFreeMemory = size_t{64} << 20;
constexpr size_t kMemoryPerByte = 32;

}  // namespace

const Pickled* Pickled::Find(std::string_view key) const {
  for (size_t i = 0; kind == Kind::kDict && i + 1 < items.size(); i += 2)
    if (items[i]->Is(Kind::kText) && items[i]->text == key) return items[i + 1];
  return nullptr;
}

Result<Pickle> Pickle::Parse(std::string_view bytes, size_t file_size) {
  return Unpickler(bytes, file_size).Run();
}

Result<std::string_view> Unpickler::Take(size_t size) {
  if (size > bytes_.size() - at_)
    return Bad(size, " bytes are needed, but ", bytes_.size() - at_, " are left");
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += size;
  return taken;
}

Result<uint64_t> Unpickler::TakeNumber(size_t size) {
  TERN_ASSIGN(const std::string_view raw, Take(size));
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(raw[i]);
  return value;
}

Result<std::string_view> Unpickler::TakeLine() {
  const size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) return Bad("a line has no end");
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

Pickled* Unpickler::New(Kind kind) {
  result_.pieces_.emplace_back();
  result_.pieces_.back().kind = kind;
  return &result_.pieces_.back();
}

Status Unpickler::Copy(size_t bytes) {
  copied_ += bytes;
  if (copied_ > bytes_.size() && copied_ - bytes_.size() > kMaxCopied)
    return Bad("the pickle copies its data ", copied_ / std::max<size_t>(bytes_.size(), 1), " times");
  return {};
}

Pickled* Unpickler::Push(Kind kind) {
  stack_.push_back(New(kind));
  return stack_.back();
}

Result<Pickled*> Unpickler::Pop() {
  if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size())) return Bad("the stack is empty");
  Pickled* top = stack_.back();
  stack_.pop_back();
  return top;
}

Result<Pickled*> Unpickler::Top(Kind kind) {
  if (stack_.empty() || stack_.back()->kind != kind)
    return Bad("a ", kind == Kind::kDict ? "dict" : "list", " is missing on the stack");
  return stack_.back();
}

Result<std::vector<const Pickled*>> Unpickler::PopToMark() {
  if (marks_.empty()) return Bad("a mark is missing");
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<const Pickled*> items(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return items;
}

Status Unpickler::PushTuple(size_t count) {
  std::vector<const Pickled*> items(count);
  for (size_t i = count; i-- > 0;) {
    TERN_ASSIGN(items[i], Pop());
  }
  Push(Kind::kTuple)->items = std::move(items);
  return {};
}

Status Unpickler::PushText(size_t length_size, Kind kind) {
  TERN_ASSIGN(const uint64_t length, TakeNumber(length_size));
  TERN_ASSIGN(const std::string_view text, Take(length));
  Push(kind)->text = std::string(text);
  return {};
}

// Reads an integer in two's complement.
Status Unpickler::PushLong(size_t length_size) {
  TERN_ASSIGN(const uint64_t length, TakeNumber(length_size));
  if (length > 8) return Bad("an integer of ", length, " bytes is too large");
  TERN_ASSIGN(uint64_t value, TakeNumber(length));
  if (length > 0 && length < 8 && (value >> (8 * length - 1) & 1) != 0) value |= ~uint64_t{0} << (8 * length);
  Push(Kind::kInt)->number = static_cast<int64_t>(value);
  return {};
}

// Returns kUnsupported without a message if the opcode does not push a constant. Step then tries the next
// function. Container, Memo and Construct do the same for their opcodes.
Status Unpickler::Constant(unsigned char opcode) {
  switch (opcode) {
    case 'N':
      Push(Kind::kNone);
      return {};
    case 0x88:
      Push(Kind::kBool)->number = 1;
      return {};
    case 0x89:
      Push(Kind::kBool)->number = 0;
      return {};
    case 'K': {
      TERN_ASSIGN(const uint64_t value, TakeNumber(1));
      Push(Kind::kInt)->number = static_cast<int64_t>(value);
      return {};
    }
    case 'M': {
      TERN_ASSIGN(const uint64_t value, TakeNumber(2));
      Push(Kind::kInt)->number = static_cast<int64_t>(value);
      return {};
    }
    case 'J': {
      TERN_ASSIGN(const uint64_t value, TakeNumber(4));
      Push(Kind::kInt)->number = static_cast<int32_t>(value);
      return {};
    }
    case 'G': {
      TERN_ASSIGN(const std::string_view raw, Take(8));
      uint64_t bits = 0;
      for (const char c : raw) bits = bits << 8 | static_cast<unsigned char>(c);
      Push(Kind::kFloat)->real = std::bit_cast<double>(bits);
      return {};
    }
    case 0x8a:
      return PushLong(1);
    case 0x8b:
      return PushLong(4);
    case 'X':
      return PushText(4, Kind::kText);
    case 0x8c:
      return PushText(1, Kind::kText);
    case 0x8d:
      return PushText(8, Kind::kText);
    case 'U':
      return PushText(1, Kind::kText);
    case 'T':
      return PushText(4, Kind::kText);
    case 'B':
      return PushText(4, Kind::kBytes);
    case 'C':
      return PushText(1, Kind::kBytes);
    default:
      return Unsupported("");
  }
}

Status Unpickler::Container(unsigned char opcode) {
  switch (opcode) {
    case '(':
      marks_.push_back(stack_.size());
      return {};
    case ')':
      Push(Kind::kTuple);
      return {};
    case ']':
      Push(Kind::kList);
      return {};
    case '}':
      Push(Kind::kDict);
      return {};
    case 0x85:
      return PushTuple(1);
    case 0x86:
      return PushTuple(2);
    case 0x87:
      return PushTuple(3);
    case 't':
    case 'l':
    case 'd': {
      TERN_ASSIGN(auto items, PopToMark());
      if (opcode == 'd' && items.size() % 2 != 0) return Bad("a dict has a key without a value");
      Push(opcode == 't'   ? Kind::kTuple
           : opcode == 'l' ? Kind::kList
                           : Kind::kDict)
          ->items = std::move(items);
      return {};
    }
    case 'a': {
      TERN_ASSIGN(Pickled * item, Pop());
      TERN_ASSIGN(Pickled * list, Top(Kind::kList));
      list->items.push_back(item);
      return {};
    }
    case 's': {
      TERN_ASSIGN(Pickled * value, Pop());
      TERN_ASSIGN(Pickled * key, Pop());
      TERN_ASSIGN(Pickled * dict, Top(Kind::kDict));
      dict->items.insert(dict->items.end(), {key, value});
      return {};
    }
    case 'e':
    case 'u': {
      TERN_ASSIGN(const auto items, PopToMark());
      TERN_ASSIGN(Pickled * container, Top(opcode == 'e' ? Kind::kList : Kind::kDict));
      if (opcode == 'u' && items.size() % 2 != 0) return Bad("a dict has a key without a value");
      container->items.insert(container->items.end(), items.begin(), items.end());
      return {};
    }
    default:
      return Unsupported("");
  }
}

Status Unpickler::Memo(unsigned char opcode) {
  uint64_t index = memo_.size();
  if (opcode == 'q' || opcode == 'h') {
    TERN_ASSIGN(index, TakeNumber(1));
  } else if (opcode == 'r' || opcode == 'j') {
    TERN_ASSIGN(index, TakeNumber(4));
  } else if (opcode != 0x94) {
    return Unsupported("");
  }
  if (opcode == 'h' || opcode == 'j') {
    const auto found = memo_.find(index);
    if (found == memo_.end()) return Bad("memo ", index, " is empty");
    stack_.push_back(found->second);
    return {};
  }
  if (stack_.empty()) return Bad("the stack is empty");
  memo_[index] = stack_.back();
  return {};
}

Status Unpickler::Construct(unsigned char opcode) {
  switch (opcode) {
    case 'c': {
      TERN_ASSIGN(const std::string_view module, TakeLine());
      TERN_ASSIGN(const std::string_view name, TakeLine());
      return PushGlobal(module, name);
    }
    case 0x93: {
      TERN_ASSIGN(const Pickled* name, Pop());
      TERN_ASSIGN(const Pickled* module, Pop());
      if (!name->Is(Kind::kText) || !module->Is(Kind::kText)) return Bad("the name of a class is not a text");
      return PushGlobal(module->text, name->text);
    }
    case 'R':
    case 0x81:
      return Reduce();
    case 'b':
      return Build();
    case 'Q':
      return Storage();
    case '0': {
      TERN_ASSIGN([[maybe_unused]] const Pickled* dropped, Pop());
      return {};
    }
    case 0x95: {
      TERN_ASSIGN([[maybe_unused]] const uint64_t frame, TakeNumber(8));
      return {};
    }
    default:
      return Unsupported("");
  }
}

Status Unpickler::Step(unsigned char opcode) {
  for (const auto part :
       {&Unpickler::Constant, &Unpickler::Container, &Unpickler::Memo, &Unpickler::Construct}) {
    Status status = (this->*part)(opcode);
    if (status.code() != tern::Code::kUnsupported || !status.message().empty()) return status;
  }
  return Bad("the opcode ", static_cast<int>(opcode), " is not allowed");
}

Result<Pickle> Unpickler::Run() {
  TERN_ASSIGN(const uint64_t proto, TakeNumber(1));
  if (proto != 0x80) return Bad("this is not a pickle of protocol 2 or later");
  TERN_ASSIGN(const uint64_t protocol, TakeNumber(1));
  if (protocol < 2 || protocol > 5) return Bad("protocol ", protocol, " is unknown");
  for (;;) {
    TERN_ASSIGN(const uint64_t opcode, TakeNumber(1));
    if (opcode == '.') break;
    TERN_TRY(Step(static_cast<unsigned char>(opcode)));
    const size_t memory = result_.pieces_.size() * sizeof(Pickled);
    if (memory > kFreeMemory && (memory - kFreeMemory) / kMemoryPerByte > file_size_)
      return Bad("the pickle contains ", result_.pieces_.size(), " values, too many for a file of ",
                 file_size_, " bytes");
  }
  if (stack_.size() != 1) return Bad(stack_.size(), " values are left on the stack instead of 1");
  result_.root_ = stack_[0];
  return std::move(result_);
}

}  // namespace tern::torch::script
