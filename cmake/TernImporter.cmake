include(GNUInstallDirs)

# tern_bundle(TARGET MODULES…): links all objects of the modules into the library or program TARGET, even objects that
# no other object refers to.
function(tern_bundle target)
  list(TRANSFORM ARGN PREPEND "$<TARGET_FILE:" OUTPUT_VARIABLE archives)
  list(TRANSFORM archives APPEND ">")
  # CMake does not see that the -Wl option below reads the archives, so LINK_DEPENDS makes a changed archive link the
  # target again.
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${archives})
  list(JOIN archives "," archives)
  target_link_libraries(${target} PRIVATE "-Wl,--whole-archive,${archives},--no-whole-archive")
  add_dependencies(${target} ${ARGN})
endfunction()

# tern_importer(FORMAT [TEST_ONLY] LIBRARIES…) is called in the folder of a format. It defines the module
# tern_import_FORMAT, built from the folder's sources, and libtern_FORMAT.so, which Tern loads when it reads a model of
# that format. Two sources are not in the module: library.cc defines the entry point of libtern_FORMAT.so
# (TERN_IMPORTER). format.cc defines the format's row of the format table (TERN_FORMAT); src/load compiles it. A
# TEST_ONLY library is not installed.
function(tern_importer format)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TEST_ONLY" "" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$|/(format|library)\\.cc$")
  if(sources)
    tern_module(import_${format} tern_ops tern_load ${arg_UNPARSED_ARGUMENTS})
  endif()
  if(TERN_FUZZ)  # fuzz builds have no shared libraries
    return()
  endif()
  set(library libtern_${format})
  add_library(${library} SHARED library.cc)
  if(sources)
    tern_bundle(${library} tern_import_${format})
  endif()
  target_link_libraries(${library} PRIVATE libtern ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${library} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  tern_uses_interface(${library})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME tern_${format} INSTALL_RPATH "$ORIGIN"
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  if(NOT arg_TEST_ONLY)
    set_property(GLOBAL APPEND PROPERTY TERN_IMPORTERS ${library})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()
