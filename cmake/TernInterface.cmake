# The target tern_interface generates load/interface_id.h, which contains a hash. libtern refuses an importer that was
# compiled with another hash. The program tern refuses a libtern_server that was compiled with another hash. The hash
# covers the headers that these libraries include. It also covers the sources of ops, because they declare the attributes
# that importers set. When the hash changes, the build compiles src/load/library.cc and the library.cc of each of these
# libraries again.
file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     ${CMAKE_SOURCE_DIR}/src/base/*.h ${CMAKE_SOURCE_DIR}/src/core/*.h ${CMAKE_SOURCE_DIR}/src/ir/*.h ${CMAKE_SOURCE_DIR}/src/load/*.h
     ${CMAKE_SOURCE_DIR}/src/ops/*.h ${CMAKE_SOURCE_DIR}/src/ops/*.cc
     ${CMAKE_SOURCE_DIR}/src/server/main/entry.h ${CMAKE_SOURCE_DIR}/src/server/load/load.h)
list(FILTER files EXCLUDE REGEX "_(test|bench)\\.cc$")
set(TERN_INTERFACE_FOLDER ${CMAKE_BINARY_DIR}/interface)
set(output ${TERN_INTERFACE_FOLDER}/load/interface_id.h)
set(list_file ${TERN_INTERFACE_FOLDER}/files)
string(REPLACE ";" "\n" lines "${files}")
file(GENERATE OUTPUT ${list_file} CONTENT "${lines}\n")
list(TRANSFORM files PREPEND ${CMAKE_SOURCE_DIR}/)
add_custom_command(
  OUTPUT ${output}
  COMMAND ${CMAKE_COMMAND} -DFILES=${list_file} -DROOT=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DOUTPUT=${output}
          -P ${CMAKE_SOURCE_DIR}/cmake/interface_id.cmake
  DEPENDS ${files} ${list_file} ${CMAKE_SOURCE_DIR}/cmake/interface_id.cmake
  COMMENT "Hashing the interface of importers" VERBATIM)
add_custom_target(tern_interface DEPENDS ${output})

# tern_uses_interface(TARGET): call this for a target whose sources include load/importer.h. That header includes the
# generated load/interface_id.h.
function(tern_uses_interface target)
  add_dependencies(${target} tern_interface)
  target_include_directories(${target} PUBLIC ${TERN_INTERFACE_FOLDER})
  target_compile_definitions(${target} PRIVATE TERN_VERSION="${PROJECT_VERSION}")
endfunction()
