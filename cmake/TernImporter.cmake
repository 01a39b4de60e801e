include(GNUInstallDirs)

# tern_bundle(TARGET MODULES…): links all objects of the modules into the library or program TARGET, even objects that
# no other object refers to.
function(tern_bundle target)
  list(TRANSFORM ARGN PREPEND "$<TARGET_FILE:" OUTPUT_VARIABLE archives)
  list(TRANSFORM archives APPEND ">")
  # CMake does not know that the -Wl option below reads the archives. LINK_DEPENDS lists them, so that the target is linked
  # again when an archive changes.
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${archives})
  list(JOIN archives "," archives)
  target_link_libraries(${target} PRIVATE "-Wl,--whole-archive,${archives},--no-whole-archive")
  add_dependencies(${target} ${ARGN})
endfunction()

# tern_hide_symbols(TARGET): makes the library TARGET export only the symbols of cmake/plug_in.map, and drops the code that
# these symbols do not need. The library must be one that Tern loads at run time. Does nothing in a build with sanitizers.
function(tern_hide_symbols target)
  if(TERN_SANITIZE)
    return()
  endif()
  set(script ${CMAKE_SOURCE_DIR}/cmake/plug_in.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${script} -Wl,--gc-sections)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# tern_importer(FORMAT [TEST_ONLY] LIBRARIES…): makes two targets from the sources of the caller's folder, which is that of
# the format:
# - the module tern_import_FORMAT, which the tests and the fuzz target (tests/fuzz) link;
# - libtern_FORMAT.so, which Tern loads when it reads a model of that format. A fuzz build does not have this target.
# Both use the module import_common.
# library.cc defines the entry point (TERN_IMPORTER). format.cc defines the format's row of the format table (TERN_FORMAT).
# src/load compiles format.cc.
# A TEST_ONLY library is neither installed nor fuzzed.
function(tern_importer format)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST_ONLY" "" "")
  set(module tern_import_${format})
  tern_module(import_${format} tern_import_common tern_ops tern_load ${arg_UNPARSED_ARGUMENTS})
  tern_uses_interface(${module})
  tern_permit_long_strings(${module})
  tern_unite(${module})
  if(NOT format STREQUAL onnx)  # an importer runs once per model, and the time to load ONNX models is measured
    tern_compile_quickly(${module})
  endif()
  if(NOT arg_TEST_ONLY)
    set_property(GLOBAL APPEND PROPERTY TERN_FORMATS ${format})
  endif()
  if(TERN_FUZZ)  # fuzz builds have no shared libraries
    return()
  endif()
  set(library libtern_${format})
  add_library(${library} SHARED $<TARGET_OBJECTS:${module}> $<TARGET_OBJECTS:tern_import_common>)
  target_link_libraries(${library} PRIVATE libtern ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME tern_${format} INSTALL_RPATH "$ORIGIN" LINKER_LANGUAGE CXX
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  tern_hide_symbols(${library})
  if(NOT arg_TEST_ONLY)
    set_property(GLOBAL APPEND PROPERTY TERN_IMPORTERS ${library})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()
