# Precompiled headers. tern_precompile(TARGET OWNER HEADERS…): the target's sources begin with HEADERS, which the target OWNER compiles once.
# The headers are those that nearly all sources of the targets include anyway, so that a change of one rebuilds few that it would not rebuild
# otherwise. A source still includes what it uses: the debug preset has no precompiled headers and tells.
# GCC takes them for targets whose machine flags and position independence are the same; optimization may differ.
set(TERN_STANDARD_HEADERS <algorithm> <cstddef> <cstdint> <functional> <list> <map> <memory> <optional> <stdexcept> <string> <string_view>
    <type_traits> <utility> <variant> <vector>)

function(tern_precompile target owner)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
  if(CCACHE)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # without it ccache does not keep the results
  endif()
endfunction()

# For the module of that name.
function(tern_precompile_module name)
  if(name MATCHES "^(base|core|data|kernels|server)$")
    tern_precompile(tern_${name} tern_base ${TERN_STANDARD_HEADERS})
  elseif(name STREQUAL ops)
    tern_precompile(tern_ops tern_ops ${TERN_STANDARD_HEADERS} <ir/eval_context.h> <ir/infer_context.h> <ir/op_def.h>)
  else()
    tern_precompile(tern_${name} tern_ir ${TERN_STANDARD_HEADERS} <ir/builder.h> <ir/graph.h>)
  endif()
endfunction()

# For a program of tests.
function(tern_precompile_test name)
  if(name MATCHES "^(api|base|core|data|formats|kernels|load|server)_test$")
    tern_precompile(${name} base_test ${TERN_STANDARD_HEADERS} <gtest/gtest.h>)
  else()
    tern_precompile(${name} ops_test ${TERN_STANDARD_HEADERS} <gtest/gtest.h> <ir/builder.h> <ir/graph.h>)
    target_compile_definitions(${name} PRIVATE GTEST_HAS_PTHREAD=1)  # as in ops_test, also where gtest is not linked
  endif()
endfunction()
