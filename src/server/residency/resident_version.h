// A version of a model that is in memory only while it is used (memory budget).
#pragma once
#include "server/residency/account.h"
#include "server/residency/holding_version.h"

namespace tern::server {

class BudgetState;

// Requests of an evicted version wait while it is loaded.
class ResidentVersion final : public HoldingVersion {
 public:
  ResidentVersion(ModelConfig config, std::shared_ptr<Account> account, std::shared_ptr<BudgetState> budget,
                  std::shared_ptr<HoldTimer> timer);
  ~ResidentVersion() override;

  std::string StateNote() const override;
  bool placeholder() const override { return false; }  // the budget loads it on demand
  Lease CurrentLease() const { return lease(); }
  const std::shared_ptr<Account>& account() const { return account_; }

 protected:
  void OnHit() override;
  void OnWait() override;
  void OnForward(std::chrono::nanoseconds held) override;

 private:
  const std::shared_ptr<Account> account_;
  const std::shared_ptr<BudgetState> budget_;
};

}  // namespace tern::server
