// Second half of compiling: which values share bytes. Views lie in their input, a step may write over an
// input that dies there, and the parts of a Concat are written straight into the result.
#pragma once
#include <functional>

#include "runtime/plan/lower.h"

namespace tern {

// One step in the making.
struct Draft {
  const PlanNode* node = nullptr;
  const KernelEntry* entry = nullptr;  // null: the reference evaluator
  bool dynamic = false;                // shapes depend on data, or something is no tensor of numbers
  bool on_state = false;               // the kernel appends to a state in place
  bool skip = false;  // nothing is left to do: a view, or a Concat of parts that are there already
  // A Concat along the outermost axis, or along the last one where some parts are written straight into the
  // result: which inputs to copy, and where to.
  std::vector<std::pair<int, size_t>> copies;
  bool is_copy = false;
  bool is_transfer = false;  // copies its input from one memory to another
  // Such a part: elements from one row of output 0 to the next, which are the result's. 0: rows are
  // neighbours.
  int64_t row_stride = 0;
};

// Bytes that one or more slots live in.
struct Storage {
  bool external = false;  // a bound input's memory
  size_t bytes = 0;
  int first = 0, last = 0;  // steps
  int parent = -1;          // lies in another storage, at parent_offset
  size_t parent_offset = 0;
  MemorySpace* memory = nullptr;  // null: the host's
};

struct Place {
  int storage = -1;  // -1: known, dynamic, or unused
  size_t offset = 0;
};

struct Layout {
  std::vector<Place> places;  // by slot, resolved to storages without a parent
  std::vector<Storage> storages;
};

// Fills in what the drafts do about views and concats. bound: how many of the first slots are inputs and
// captures. row_stride: whether a draft's kernel can leave room between the rows of its result; null: none.
Layout MakeLayout(int bound, const Lowered& lowered, std::vector<Draft>& drafts,
                  const std::function<bool(const Draft&)>& row_stride = nullptr);

}  // namespace tern
