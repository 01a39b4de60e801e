// A converter is a small function that converts one MindSpore primitive to Tern ops. ConverterTable contains
// all of them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/mindir/item.h"
#include "ir/builder.h"

namespace tern::mindir {

using Attributes = std::map<std::string, Item, std::less<>>;
using Names = std::initializer_list<const char*>;

// A MindIR node during import. A converter reads its arguments, emits Tern ops through `b`, and sets its
// result with Out.
//
// Up to MindSpore 2.2, a primitive has tensors as inputs and the rest as attributes. Since then, the
// arguments of most primitives are inputs. An accessor with an index and names therefore reads input `index`
// if the node has this input. Otherwise it reads the first attribute with one of the names. The index
// kAttribute means that the argument is always an attribute. An argument that is absent or None has the value
// `otherwise`. If an argument has the wrong kind, the accessor reports an error to `b` and returns
// `otherwise`.
class MindNode {
 public:
  static constexpr int kAttribute = -1;

  MindNode(Builder& builder, std::string op_type, std::string description, std::vector<Item> inputs,
           const Attributes& attributes);

  Builder& b;
  const std::string& op() const { return op_; }

  // The inputs without monads.
  int InputCount() const { return static_cast<int>(inputs_.size()); }
  const std::vector<Item>& inputs() const { return inputs_; }
  const std::vector<Item>& all_inputs() const { return all_; }  // with monads
  bool Has(int i) const { return i < InputCount() && !inputs_[static_cast<size_t>(i)].absent(); }
  // Returns input i as a value of the graph, or null if it is absent. A tuple of numbers is a vector.
  Value* In(int i) const;
  // Returns the tensors of an input that is a tuple, or the input itself.
  std::vector<Value*> Tensors(int i) const;
  // Returns an item as a value of the graph. Reports an error if the item is not a tensor or of numbers.
  Value* ValueOf(const Item& item, const char* what = "an input") const;

  const Item* Arg(int i, Names names) const;  // null if the argument is absent or None
  int64_t Int(int i, Names names, int64_t otherwise = 0) const;
  double Float(int i, Names names, double otherwise = 0) const;
  bool Bool(int i, Names names, bool otherwise = false) const;
  // Returns a text in lower case. If the argument is a number, returns `choices[number]`.
  std::string Text(int i, Names names, std::string otherwise, Names choices = {}) const;
  std::vector<int64_t> Ints(int i, Names names, std::vector<int64_t> otherwise = {}) const;
  std::vector<double> Floats(int i, Names names, std::vector<double> otherwise = {}) const;
  DType TypeArg(int i, Names names, DType otherwise) const;

  DType TypeOf(int i) const;  // kInvalid if input i is absent
  int RankOf(int i) const;    // -1 if unknown

  void Out(Value* value) { result_ = Item::Of(value); }
  void Out(const std::vector<Value*>& values);  // a tuple
  void OutItem(Item item) { result_ = std::move(item); }
  Item& result() { return result_; }

  // Bad returns kInvalidModel and NotYet returns kUnsupported, with a message that names this node.
  template <class... A> Status Bad(const A&... a) const {
    return Status(Code::kInvalidModel, description_ + ": " + StrCat(a...));
  }
  template <class... A> Status NotYet(const A&... a) const {
    return Status(Code::kUnsupported, description_ + ": " + StrCat(a...));
  }

 private:
  void WrongKind(int i, Names names, const Item& item, const char* wanted) const;

  std::string op_, description_;
  std::vector<Item> all_, inputs_;
  const Attributes& attributes_;
  Item result_;
};

using Converter = std::function<Status(MindNode&)>;

// Maps a primitive to its converter.
class ConverterTable {
 public:
  void Add(const char* op, Converter converter);
  const Converter* Find(std::string_view op) const;
  std::vector<std::string> Names() const;

 private:
  std::map<std::string, Converter, std::less<>> table_;
};

const ConverterTable& Converters();

}  // namespace tern::mindir

// Defines the converters of one source file. The build finds these definitions and registers the converters.
#define TERN_CONVERTERS(Family) void TernConverters_##Family([[maybe_unused]] ConverterTable& table)
