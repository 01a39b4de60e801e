#include "import/torch/script/item.h"

#include <algorithm>

namespace tern::torch::script {

std::string Item::Describe() const {
  switch (kind) {
    case Kind::kArg:
      return arg.Describe();
    case Kind::kList:
      return cell->sequence ? "a list" : StrCat("a list of ", cell->items.size());
    case Kind::kTuple:
      return StrCat("a tuple of ", cell->items.size());
    case Kind::kDict:
      return StrCat("a dict of ", cell->items.size());
    case Kind::kObject:
      return StrCat("an object of ", cell->type);
    case Kind::kEnum:
      return StrCat("a member of ", cell->type);
    case Kind::kFunction:
      return StrCat("the function ", text);
    case Kind::kType:
      return StrCat("the class ", text);
    case Kind::kUninitialized:
      return "an uninitialized variable";
    case Kind::kConflict:
      return "a value that depends on a branch";
  }
  return "a value";
}

Cell* Heap::New(Item::Kind kind, std::string type) {
  cells_.emplace_back();
  Cell& cell = cells_.back();
  cell.id = static_cast<int64_t>(cells_.size());
  cell.kind = kind;
  cell.type = std::move(type);
  return &cell;
}

void Heap::Touch(Cell& cell) {
  // Only the innermost scope saves the cell, even if the cell is older than several scopes. When this scope
  // ends, it restores the contents. The code that merges branches then changes the cell again, and the next
  // scope saves it.
  if (!scope_ || !scope_->Existed(cell)) return;
  const auto saved = [&](const auto& entry) { return entry.first == &cell; };
  if (std::any_of(scope_->saved_.begin(), scope_->saved_.end(), saved)) return;
  scope_->saved_.emplace_back(&cell, static_cast<const Contents&>(cell));
}

Heap::Scope::Scope(Heap& heap)
    : heap_(heap), outer_(heap.scope_), first_(static_cast<int64_t>(heap.cells_.size()) + 1) {
  heap.scope_ = this;
}

Heap::Scope::~Scope() {
  for (auto& [cell, contents] : saved_) static_cast<Contents&>(*cell) = std::move(contents);
  heap_.scope_ = outer_;
}

std::vector<Cell*> Heap::Scope::Changed() const {
  std::vector<Cell*> changed;
  for (const auto& entry : saved_) changed.push_back(entry.first);
  return changed;
}

}  // namespace tern::torch::script
