// The profiles of the C API.
#include "bindings/c/handles.h"

using tern::c::Try;

namespace {

const tern::v1::ProfiledNode* NodeAt(const TernProfile* profile, size_t index) {
  return index < tern_profile_node_count(profile) ? &profile->profile.nodes[index] : nullptr;
}

}  // namespace

TernStatus* tern_predictor_start_profile(TernPredictor* predictor) {
  return Try(__func__, {{"predictor", predictor}}, [&] { return predictor->predictor.StartProfile(); });
}

TernStatus* tern_predictor_stop_profile(TernPredictor* predictor, TernProfile** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"predictor", predictor}, {"out", out}}, [&]() -> tern::v1::Status {
    auto profile = predictor->predictor.StopProfile();
    if (!profile.ok()) return profile.status();
    *out = new TernProfile{std::move(*profile)};
    return {};
  });
}

void tern_profile_free(TernProfile* profile) { delete profile; }

int64_t tern_profile_runs(const TernProfile* profile) { return profile ? profile->profile.runs : 0; }
int64_t tern_profile_total_ns(const TernProfile* profile) {
  return profile ? profile->profile.total.count() : 0;
}
int64_t tern_profile_fastest_ns(const TernProfile* profile) {
  return profile ? profile->profile.fastest.count() : 0;
}
size_t tern_profile_node_count(const TernProfile* profile) {
  return profile ? profile->profile.nodes.size() : 0;
}

const char* tern_profile_node_name(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->name.c_str() : nullptr;
}
const char* tern_profile_node_op(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->op.c_str() : nullptr;
}
const char* tern_profile_node_kernel(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->kernel.c_str() : nullptr;
}
const char* tern_profile_node_output(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->output.c_str() : nullptr;
}
int32_t tern_profile_node_depth(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->depth : -1;
}
int64_t tern_profile_node_runs(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->runs : 0;
}
int64_t tern_profile_node_calls(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->calls : 0;
}
int64_t tern_profile_node_total_ns(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->total.count() : 0;
}
int64_t tern_profile_node_fastest_ns(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->fastest.count() : 0;
}
double tern_profile_node_flops(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->flops : 0;
}
double tern_profile_node_bytes(const TernProfile* profile, size_t index) {
  const auto* node = NodeAt(profile, index);
  return node ? node->bytes : 0;
}
