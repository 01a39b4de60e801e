#include "runtime/options.h"

#include "base/cpu_info.h"
#include "base/selection.h"
#include "ir/eval_context.h"
#include "ir/state.h"
#include "runtime/bind/cpu_target.h"

namespace tern {
namespace {

Status CheckRanges(const SessionOptions& o, OptionText text) {
  if (o.threads < 0 || o.threads > kMaxThreads)
    return InvalidArgument(text("threads", ""), " must be 0 (one per core) or up to ", kMaxThreads, ", got ",
                           o.threads);
  if (o.plan_cache < 1)
    return InvalidArgument(text("plan_cache", ""), " must be at least 1, got ", o.plan_cache);
  if (o.tune_ms < 0 || o.tune_ms > kMaxTuneMs)
    return InvalidArgument(text("tune_ms", StrCat(o.tune_ms)), " is not between 0 and ", kMaxTuneMs);
  if (!(o.tune_within >= 1))
    return InvalidArgument(text("tune_within", StrCat(o.tune_within)), " is below 1 or not a number");
  // System calls read a path up to its first NUL, so a path with a NUL inside would open another folder.
  if (const size_t at = o.cache_dir ? o.cache_dir->find('\0') : std::string::npos; at != std::string::npos)
    return InvalidArgument(text("cache_dir", ""), " has a NUL at byte ", at, ", after '",
                           o.cache_dir->substr(0, at), "'");
  if (const Status states = o.states.empty() ? Status() : CheckStatesText(o.states); !states.ok())
    return InvalidArgument(text("states", o.states), ": ", states.message());
  return {};
}

Status CheckReference(const SessionOptions& o, OptionText text) {
  const auto exclude = [&](const std::string& other, const char* why) {
    return InvalidArgument(other, " and ", text("reference", "true"),
                           " exclude each other: the reference evaluator ", why);
  };
  if (o.tune_ms) return exclude(text("tune_ms", StrCat(o.tune_ms)), "has no kernels to measure");
  if (o.cache_dir && !o.cache_dir->empty())
    return exclude(text("cache_dir", *o.cache_dir), "has no kernels whose measurements could be read");
  if (o.precision == Precision::kBf16)
    return exclude(text("precision", "bf16"), "computes in the model's types");
  return {};
}

// Refuses options that need parts of Tern that a mini build leaves out.
Status CheckMini(const SessionOptions& o, OptionText text) {
  const auto refuse = [&](const std::string& option, const char* what) {
    return Unsupported(option, ": this mini build of Tern has no ", what);
  };
  if (o.tune_ms) return refuse(text("tune_ms", StrCat(o.tune_ms)), "tuner");
  if (o.cache_dir && !o.cache_dir->empty()) return refuse(text("cache_dir", *o.cache_dir), "tuner");
  if (o.reference) return refuse(text("reference", "true"), "reference evaluator for all ops");
  if (o.precision == Precision::kBf16 && !kHasBf16Kernels)
    return refuse(text("precision", "bf16"), "bf16 kernels");
  return {};
}

}  // namespace

std::string SettingText(std::string_view option, std::string_view value) {
  if (value.empty()) return std::string(option);
  if (option == "reference") return StrCat(option, "(", value, ")");
  if (option == "cache_dir") return StrCat(option, " '", value, "'");
  if (option == "precision" || option == "states") return StrCat(option, " \"", value, "\"");
  return StrCat(option, " ", value);
}

Status SessionOptions::Validate(OptionText text) const {
  TERN_TRY(CheckRanges(*this, text));
  if (kMini) TERN_TRY(CheckMini(*this, text));
  return reference ? CheckReference(*this, text) : Status();
}

SessionOptions SessionOptions::Resolved() const {
  SessionOptions out = *this;
  if (!out.memory_limit) out.memory_limit = MachineMemory();
  if (!out.collect_limit) out.collect_limit = DefaultCollectLimit();
  if (reference) {
    out.level = Level::kNone;
    out.precision = Precision::kF32;
    out.value_cache = SIZE_MAX;
  }
  return out;
}

const Target& SessionOptions::TargetOrDefault() const {
  return reference ? ReferenceTarget() : target ? *target : DefaultTarget();
}

}  // namespace tern
