#include "server/access/rights.h"

namespace tern::server {
namespace {

constexpr const char* kNames[] = {"health", "any", "describe", "infer", "observe", "shared-memory", "admin"};
static_assert(std::size(kNames) == kRights);

struct NamedRole {
  std::string_view name;
  Role role;
};
constexpr NamedRole kRoles[] = {{"infer", kRoleInfer},
                                {"observe", kRoleObserve},
                                {"shared-memory", kRoleSharedMemory},
                                {"admin", kRoleAdmin}};

}  // namespace

const char* RightName(Right right) { return kNames[static_cast<size_t>(right)]; }

Result<Roles> ParseRole(std::string_view name) {
  for (const NamedRole& row : kRoles)
    if (name == row.name) return Roles{row.role};
  return InvalidArgument("'", name, "' is no role; roles are infer, observe, shared-memory and admin");
}

std::string RoleNames(Roles roles) {
  std::string names;
  for (const NamedRole& row : kRoles) {
    if (!(roles & row.role)) continue;
    if (!names.empty()) names += ',';
    names += row.name;
  }
  return names;
}

bool Permits(Roles roles, Right right) {
  if (roles & kRoleAdmin) return true;
  switch (right) {
    case Right::kHealth:
    case Right::kAny:
      return true;
    case Right::kDescribe:
      return roles & (kRoleInfer | kRoleObserve);
    case Right::kInfer:
      return roles & kRoleInfer;
    case Right::kObserve:
      return roles & kRoleObserve;
    case Right::kSharedMemory:
      return roles & kRoleSharedMemory;
    case Right::kAdmin:
      break;
  }
  return false;
}

Right RightOf(ApiGroup group, bool writes, bool of_model) {
  switch (group) {
    case ApiGroup::kHealth:
      return of_model ? Right::kDescribe : Right::kHealth;
    case ApiGroup::kMetadata:
    case ApiGroup::kModelConfig:
      return Right::kDescribe;
    case ApiGroup::kInference:
      return Right::kInfer;
    case ApiGroup::kSharedMemory:
      return Right::kSharedMemory;
    case ApiGroup::kStatistics:
    case ApiGroup::kMetrics:
      return Right::kObserve;
    case ApiGroup::kModelRepository:
    case ApiGroup::kTrace:
    case ApiGroup::kLogging:
      return writes ? Right::kAdmin : Right::kObserve;
    case ApiGroup::kNone:
      break;
  }
  return Right::kAdmin;
}

bool MatchesPattern(std::string_view name, std::string_view pattern) {
  // `star` is the place behind the last '*'. After a mismatch, that '*' takes one more character.
  size_t n = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace tern::server
