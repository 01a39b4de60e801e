# tern_unite(TARGET [EXCEPT REGEX]): compiles the sources of TARGET in units of up to eight sources of one folder, so that
# headers and templates that these sources share are compiled once per unit. Sources whose path matches REGEX, sources with
# options of their own, and generated sources remain separate. Debug builds, mini builds and builds with clang, which
# compiles the fuzz targets, have no units. So debug builds and clang find missing includes. The sources of a unit share
# their unnamed namespaces and macros, so a name in an unnamed namespace must be unique in its folder. GCC treats the sources
# of a unit as headers. So a class that a source defines outside the unnamed namespace must not have members whose types are
# in the unnamed namespace (-Wsubobject-linkage).
set(TERN_UNIT_SOURCES 8)

function(tern_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "")
  if(NOT CMAKE_BUILD_TYPE MATCHES "^Rel" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR TERN_OPS_FROM)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "generated")
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
  endif()
  set(folders "")
  foreach(source ${sources})
    get_filename_component(folder "${source}" DIRECTORY)
    get_filename_component(folder "${folder}" ABSOLUTE)
    file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/src ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" key)
    list(APPEND folders ${key})
    list(APPEND sources_${key} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(key ${folders})
    list(LENGTH sources_${key} count)
    math(EXPR units "(${count} + ${TERN_UNIT_SOURCES} - 1) / ${TERN_UNIT_SOURCES}")
    set(index 0)
    foreach(source ${sources_${key}})
      math(EXPR unit "${index} * ${units} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${key}_${unit})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
