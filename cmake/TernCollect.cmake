# tern_collect(TARGET MACRO KIND): finds each `MACRO(Name)` at the start of a line in the target's sources. Generates
# the source TARGET_KIND.generated.cc and adds it to the target. This source contains one function, which registers every
# Name found. So a new op or kernel needs no entry in a list. KIND is ops, rules, converters, exporters, formats, kernels
# or tools. It selects the generated code (see collect.cmake). If the variable TERN_ONLY_KIND is set, it lists the names
# to register, and other names are left out (see TernMini.cmake).
function(tern_collect target macro kind)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "generated")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_${kind}.generated.cc)
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${kind}.sources)
  string(REPLACE ";" "\n" lines "${sources}")
  file(GENERATE OUTPUT ${list_file} CONTENT "${lines}\n")
  list(JOIN TERN_ONLY_${kind} "," only)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSOURCES=${list_file} -DMACRO=${macro} -DKIND=${kind} -DOUTPUT=${output} -DONLY=${only} -DTARGET=${target}
            -DROOT=${CMAKE_CURRENT_SOURCE_DIR} -P ${CMAKE_SOURCE_DIR}/cmake/collect.cmake
    DEPENDS ${sources} ${list_file} ${CMAKE_SOURCE_DIR}/cmake/collect.cmake
    COMMENT "Collecting ${macro} in ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
