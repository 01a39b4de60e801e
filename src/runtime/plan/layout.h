// The second half of compilation decides which values share memory. A view shares the memory of its input. A
// step may overwrite an input that no later step reads. Where possible, the inputs of a Concat are written
// directly into its result.
#pragma once
#include <functional>

#include "runtime/plan/lower.h"

namespace tern {

// A step that is not compiled yet.
struct Draft {
  const PlanNode* node = nullptr;
  const KernelEntry* entry = nullptr;  // null for a dynamic step, a transfer or the reference evaluator
  bool dynamic = false;                // shapes depend on data, or a value is not a numeric tensor
  bool on_state = false;               // the kernel appends to a state in place
  bool skip = false;     // needs no step: a view, or a Concat whose inputs are all in its result
  bool is_copy = false;  // a Concat that copies only `copies`; the other inputs are in its result
  std::vector<std::pair<int, size_t>> copies;  // slot of an input, byte offset in the result
  bool is_transfer = false;                    // copies its input from one memory to another
  // Row stride of output 0 in elements. It is 0 if output 0 is contiguous. Otherwise output 0 is written into
  // the result of a Concat along the last axis.
  int64_t row_stride = 0;
};

// Memory of one or more slots.
struct Storage {
  bool external = false;  // memory of a bound input or of a state
  size_t bytes = 0;
  int first = 0, last = 0;  // indices of the first and the last draft that use the storage
  int parent = -1;          // the storage that contains this one, at parent_offset; -1 if there is none
  size_t parent_offset = 0;
  MemorySpace* memory = nullptr;  // null for host memory
};

struct Place {
  int storage = -1;  // -1 if the slot is known, dynamic or unused
  size_t offset = 0;
};

struct Layout {
  std::vector<Place> places;  // by slot; refers to a storage without a parent
  std::vector<Storage> storages;
};

// Computes the layout. Sets `skip`, `is_copy`, `copies` and `row_stride` of the drafts. `bound` is the number
// of inputs and captures, which are the first slots. The function `row_stride` returns whether a draft's
// kernel can write its result with a row stride. If it is null, all results are contiguous.
Layout MakeLayout(int bound, const Lowered& lowered, std::vector<Draft>& drafts,
                  const std::function<bool(const Draft&)>& row_stride = nullptr);

}  // namespace tern
