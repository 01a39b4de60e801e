// The sessions of one predictor. Concurrent calls run on different sessions, which share the weights.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/exec/session.h"

namespace tern::python {

// A session, and a variant of it for the overridable constants that were fed last.
class Slot {
 public:
  explicit Slot(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  // Returns the session whose inputs are the model's inputs and these constants. The states move with it.
  Result<Session*> For(const std::vector<std::string>& constants);
  Session& active() { return variant_ ? *variant_ : *session_; }
  // Whether an output of the last run was so large that the next run should write to its final place.
  bool large_outputs = false;

 private:
  std::unique_ptr<Session> session_, variant_;
  std::vector<std::string> constants_;  // the constants that variant_ takes as inputs
};

// Thread-safe.
class Pool {
 public:
  // Slots are clones of `root`, which never runs. `limit` is the maximum number of slots.
  Pool(std::shared_ptr<const Session> root, int limit) : root_(std::move(root)), limit_(limit) {}

  // Returns a slot that no other thread uses, or null if none is free and the limit is reached.
  std::unique_ptr<Slot> TryTake();
  // Waits for a slot. Returns kCancelled if `stop` fires.
  Result<std::unique_ptr<Slot>> Take(const Stop& stop);
  void GiveBack(std::unique_ptr<Slot> slot);

  const std::shared_ptr<const Session>& root() const { return root_; }
  int limit() const { return limit_; }

 private:
  std::unique_ptr<Slot> TakeLocked();
  std::shared_ptr<const Session> root_;
  int limit_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Slot>> free_;
  int made_ = 0;
};

// Owns a slot until the end of a scope, and then gives it back.
class Lease {
 public:
  Lease(Pool& pool, std::unique_ptr<Slot> slot) : pool_(pool), slot_(std::move(slot)) {}
  ~Lease() { pool_.GiveBack(std::move(slot_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  Slot* operator->() { return slot_.get(); }

 private:
  Pool& pool_;
  std::unique_ptr<Slot> slot_;
};

}  // namespace tern::python
