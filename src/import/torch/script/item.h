// The values of TorchScript's variables during import.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "import/torch/arg.h"
#include "import/torch/script/ast.h"

namespace tern::torch::script {

struct Cell;

struct Item {
  enum class Kind {
    kArg,            // a tensor, a number, a text, None …
    kList,           // cell
    kTuple,          // cell
    kDict,           // cell
    kObject,         // cell
    kEnum,           // cell; text is the name of the member, items[0] its value
    kFunction,       // function; text is its qualified name; cell is `self` of a method, or null
    kType,           // text is the qualified name of a class
    kUninitialized,  // a variable that the program does not read before it assigns it
    kConflict,       // a variable whose values in two branches no graph can merge; text is the reason
  };
  Kind kind = Kind::kArg;
  Arg arg;
  Cell* cell = nullptr;
  const Function* function = nullptr;
  std::string text;

  Item() = default;
  Item(Arg a) : arg(std::move(a)) {}  // NOLINT: implicit on purpose
  static Item Of(Kind kind, Cell* cell) {
    Item item;
    item.kind = kind;
    item.cell = cell;
    return item;
  }
  static Item Conflict(std::string why) {
    Item item = Of(Kind::kConflict, nullptr);
    item.text = std::move(why);
    return item;
  }

  bool Is(Kind k) const { return kind == k; }
  bool none() const { return kind == Kind::kArg && arg.none(); }
  bool tensor() const { return kind == Kind::kArg && arg.is_tensor(); }
  bool number() const { return kind == Kind::kArg && arg.number(); }
  bool known_int() const { return kind == Kind::kArg && arg.kind == Arg::Kind::kInt && arg.known(); }
  bool string() const { return kind == Kind::kArg && arg.kind == Arg::Kind::kString; }
  bool list_or_tuple() const { return kind == Kind::kList || kind == Kind::kTuple; }
  std::string Describe() const;
};

// The contents of a list, tuple, dict, object or enum member. Variables that refer to the same cell see each
// other's changes.
struct Contents {
  std::vector<Item> keys, items;           // a dict has keys
  std::map<std::string, Item> attributes;  // of an object
  // A list whose length the graph computes is a sequence value. `items` is then empty.
  Value* sequence = nullptr;
};

struct Cell : Contents {
  int64_t id = 0;
  Item::Kind kind = Item::Kind::kList;
  std::string type;   // the class of an object, named tuple or enum member
  std::string path;   // of a module: "encoder.layers.0"; of a dict parameter: its name
  bool open = false;  // a dict parameter: reading a new key makes an input of the model
};

// Owns all cells of an import. Cells refer to each other without owning, so that cycles do not matter.
class Heap {
 public:
  Cell* New(Item::Kind kind, std::string type = "");
  Item Make(Item::Kind kind, std::string type = "") { return Item::Of(kind, New(kind, std::move(type))); }
  // The caller calls this before it changes the contents of a cell.
  void Touch(Cell& cell);

  // The destructor undoes all changes to older cells, as TorchContext::Scope does for tensors.
  class Scope {
   public:
    explicit Scope(Heap& heap);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    // Returns the cells that existed before the scope and were changed in it, in order of their first change.
    std::vector<Cell*> Changed() const;
    bool Existed(const Cell& cell) const { return cell.id < first_; }

   private:
    friend class Heap;
    Heap& heap_;
    Scope* outer_;
    int64_t first_;
    std::vector<std::pair<Cell*, Contents>> saved_;
  };

 private:
  std::deque<Cell> cells_;
  Scope* scope_ = nullptr;
};

}  // namespace tern::torch::script
