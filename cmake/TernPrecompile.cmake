# tern_precompile(TARGET OWNER HEADERS…): precompiles HEADERS. The compiler includes them before each source of TARGET.
# The target OWNER compiles these headers once, for all targets that name it. When one of the headers changes, all sources
# are compiled again. So HEADERS should contain only headers that nearly all sources include anyway. A source must still
# include every header it uses, because the debug preset and mini builds have no precompiled headers. GCC accepts a
# precompiled header in a target with the same machine flags and the same position independence as OWNER. OWNER and
# TARGET may have different optimization levels, except -Os.
set(TERN_STANDARD_HEADERS <algorithm> <cstddef> <cstdint> <functional> <list> <map> <memory> <optional> <stdexcept> <string> <string_view>
    <type_traits> <utility> <variant> <vector>)

function(tern_precompile target owner)
  # The modules of a mini build differ in the option -Os and in the visibility of symbols.
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR TERN_OPS_FROM)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
  if(CCACHE)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # without this option ccache does not store the objects
  endif()
endfunction()

# tern_precompile_module(NAME): sets the precompiled headers of the module tern_NAME.
function(tern_precompile_module name)
  if(name STREQUAL server)
    tern_precompile(tern_server tern_server ${TERN_STANDARD_HEADERS} <array> <atomic> <chrono> <condition_variable> <deque> <mutex> <sstream>
                    <thread> <server/core/call.h> <server/core/model_config.h> <server/core/signatures.h> <server/core/statistics.h>)
  elseif(name MATCHES "^(base|core|data|kernels)$")
    tern_precompile(tern_${name} tern_base ${TERN_STANDARD_HEADERS})
  elseif(name STREQUAL ops)
    tern_precompile(tern_ops tern_ops ${TERN_STANDARD_HEADERS} <ir/eval_context.h> <ir/infer_context.h> <ir/op_def.h>)
  else()
    tern_precompile(tern_${name} tern_ir ${TERN_STANDARD_HEADERS} <ir/builder.h> <ir/graph.h>)
  endif()
endfunction()

# tern_precompile_test(NAME): sets the precompiled headers of the test program NAME.
function(tern_precompile_test name)
  if(name MATCHES "^(api|base|core|data|formats|kernels|load|server)_test$")
    tern_precompile(${name} base_test ${TERN_STANDARD_HEADERS} <gtest/gtest.h>)
  else()
    tern_precompile(${name} ops_test ${TERN_STANDARD_HEADERS} <gtest/gtest.h> <ir/builder.h> <ir/graph.h>)
    # The precompiled headers of ops_test are compiled with this macro, which gtest sets. A program that reuses them must
    # define it, even if it does not link gtest.
    target_compile_definitions(${name} PRIVATE GTEST_HAS_PTHREAD=1)
  endif()
endfunction()
