/* Profiles: the time per node of a predictor's runs. Included by tern/tern.h. */
#ifndef TERN_C_PROFILE_H_
#define TERN_C_PROFILE_H_

#include "tern/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts to record the runs of this predictor, not of its clones. Discards a profile that is being recorded.
 * The first run with new shapes builds a plan, so call tern_predictor_run once before. */
TERN_CHECKED TernStatus* tern_predictor_start_profile(TernPredictor* predictor);
/* Ends the recording and returns the profile. Fails if none was started. */
TERN_CHECKED TernStatus* tern_predictor_stop_profile(TernPredictor* predictor, TernProfile** out);
TERN_API void tern_profile_free(TernProfile* profile);

TERN_API int64_t tern_profile_runs(const TernProfile* profile); /* the runs that succeeded */
/* Return the time of all runs and of the fastest run, in nanoseconds. */
TERN_API int64_t tern_profile_total_ns(const TernProfile* profile);
TERN_API int64_t tern_profile_fastest_ns(const TernProfile* profile);

/* Nodes of the optimized graph, in the order of their first calls. If one kernel call computes two nodes,
 * they have one entry. A node has one entry per kernel that computed it. The functions below return NULL, 0
 * or -1 if the index is out of range. */
TERN_API size_t tern_profile_node_count(const TernProfile* profile);
TERN_API const char* tern_profile_node_name(const TernProfile* profile, size_t index);
TERN_API const char* tern_profile_node_op(const TernProfile* profile, size_t index);     /* "Conv" */
TERN_API const char* tern_profile_node_kernel(const TernProfile* profile, size_t index); /* "cpu.conv.f32" */
TERN_API const char* tern_profile_node_output(const TernProfile* profile, size_t index); /* "f32[N,10]" */
/* Returns the number of enclosing graphs: 0 for a node of the main graph, 1 for a node in the body of a loop.
 * The time of a loop includes the time of the nodes in its body. Returns -1 if the index is out of range. */
TERN_API int32_t tern_profile_node_depth(const TernProfile* profile, size_t index);
TERN_API int64_t tern_profile_node_runs(const TernProfile* profile, size_t index);
TERN_API int64_t tern_profile_node_calls(const TernProfile* profile, size_t index);
/* The time of all calls, and the time in the fastest run, in nanoseconds. */
TERN_API int64_t tern_profile_node_total_ns(const TernProfile* profile, size_t index);
TERN_API int64_t tern_profile_node_fastest_ns(const TernProfile* profile, size_t index);
/* The FLOPs of one run, and the bytes that it reads and writes; 0 if unknown. */
TERN_API double tern_profile_node_flops(const TernProfile* profile, size_t index);
TERN_API double tern_profile_node_bytes(const TernProfile* profile, size_t index);

#ifdef __cplusplus
}
#endif

#endif
