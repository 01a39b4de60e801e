# tern_module(NAME DEPS…) defines up to three targets from the .cc files in and below the caller's folder:
#   tern_NAME    a static library of the files that are neither tests nor benchmarks
#   NAME_test    a test program of the *_test.cc files
#   NAME_bench   a benchmark of the *_bench.cc files, which `all` does not build
# DEPS are the libraries that tern_NAME links. They must agree with the module map in scripts/check_layering.py.
function(tern_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/import/[^/]+/format\\.cc$|/formats/[^/]+/format\\.cc$")  # src/load compiles these files (see tern_importer)
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  add_library(tern_${name} STATIC ${sources})
  target_include_directories(tern_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  foreach(dep ${ARGN})
    target_link_libraries(tern_${name} PUBLIC ${dep})
  endforeach()
  tern_precompile_module(${name})
  if(TERN_TESTS AND tests)
    tern_test(${name}_test "${tests}" tern_${name})
  endif()
  if(benches)
    add_executable(${name}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(${name}_bench PRIVATE tern_${name})
  endif()
endfunction()

# tern_compile_quickly(TARGET): compiles the target with -O1 instead of -O2, which shortens the build. Use it for programs
# that spend most of their run time in the libraries they call.
function(tern_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# tern_compile_small(TARGET): compiles the target for size, with -Os instead of -O2, which also shortens the build. Use it for
# generated code outside the paths of requests. A target with precompiled headers cannot use them with -Os.
function(tern_compile_small target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
endfunction()

# tern_permit_long_strings(TARGET): turns off false warnings of GCC 12 about vectors of long strings.
function(tern_permit_long_strings target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
  endif()
endfunction()

# tern_test(NAME SOURCES LIBRARIES…): defines the GoogleTest program NAME.
function(tern_test name sources)
  include(TernGTest)
  add_executable(${name} ${sources} ${CMAKE_SOURCE_DIR}/tests/test_main.cc)
  target_link_libraries(${name} PRIVATE ${ARGN} GTest::gtest)
  tern_precompile_test(${name})
  tern_compile_quickly(${name})
  if(NOT name MATCHES "^(kernels|graph)_test$")  # their sources have helpers of the same names
    tern_unite(${name})
  endif()
  tern_permit_long_strings(${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
