#include "server/residency/resident_version.h"

#include "server/residency/budget_state.h"

namespace tern::server {

ResidentVersion::ResidentVersion(ModelConfig config, std::shared_ptr<Account> account,
                                 std::shared_ptr<BudgetState> budget, std::shared_ptr<HoldTimer> timer)
    : HoldingVersion(std::move(config), account->version, std::move(timer)),
      account_(std::move(account)),
      budget_(std::move(budget)) {}

ResidentVersion::~ResidentVersion() { budget_->Leave(*account_, Close()); }

std::string ResidentVersion::StateNote() const { return budget_->Note(*account_); }

void ResidentVersion::OnHit() { budget_->CountHit(*account_); }

void ResidentVersion::OnWait() {
  const Status status = budget_->Request(std::static_pointer_cast<ResidentVersion>(shared_from_this()));
  if (!status.ok()) Refuse(status, std::chrono::milliseconds(1000));
}

void ResidentVersion::OnForward(std::chrono::nanoseconds held) { budget_->CountWait(held); }

}  // namespace tern::server
