#include "tools/engine_flags.h"

#include <algorithm>

namespace tern::tools {
namespace {

// Returns the flag that sets an option of SessionOptions, for messages. Examples are "--tune 5" and
// "--reference".
std::string FlagText(std::string_view option, std::string_view value) {
  std::string name = StrCat("--", option == "tune_ms" ? "tune" : option);
  std::replace(name.begin(), name.end(), '_', '-');
  return value.empty() || option == "reference" ? name : StrCat(name, " ", value);
}

}  // namespace

void LevelOption::Declare(Args& args) {
  args.Choice("--level", name, {"none", "basic", "extended", "layout"},
              "how far to optimize the model before it runs (layout)");
}

void PrecisionOption::Declare(Args& args) {
  args.Choice(
      "--precision", name, {"fp32", "fast", "bf16", "auto"},
      "precision of attention, and of matrix products, convolutions and recurrent layers with constant weights (fp32); fast is fp32 with algorithms that round more; auto uses bf16 if its products are faster on this processor");
}

void EngineFlags::Declare(Args& args, unsigned flags) {
  declared_ = flags;
  if (flags & kThreads)
    args.Option("--threads", threads_, "N", "number of worker threads; 0 means one per core", 0, kMaxThreads);
  if (flags & kLevel) level_.Declare(args);
  if (flags & kPrecision) precision_.Declare(args);
  if (flags & kTune) {
    args.Option(
        "--tune", tune_ms_, "MS",
        "measure kernels for up to MS milliseconds and use the fastest ones (0); measurements are stored on disk",
        0, kMaxTuneMs);
    args.Option(
        "--cache-dir", cache_dir_, "DIR",
        "folder for measurements (default: TERN_CACHE_DIR, else XDG_CACHE_HOME/tern, else ~/.cache/tern); with \"\", measurements are not stored");
  }
  if (flags & kReference) args.Flag("--reference", reference_, "use the slow reference evaluator");
}

Result<SessionOptions> EngineFlags::Options(const Args& args) const {
  SessionOptions options{.threads = static_cast<int>(threads_),
                         .reference = reference_,
                         .level = level_.level(),
                         .precision = precision_.precision(),
                         .tune_ms = tune_ms_};
  if ((declared_ & kTune) && args.Given("--cache-dir")) options.cache_dir = cache_dir_;
  TERN_TRY(options.Validate(FlagText));
  return options;
}

const char* PrecisionInUse(const SessionOptions& options) {
  return UsesBf16(options.Resolved().precision) ? "bf16" : "fp32";
}

}  // namespace tern::tools
