# tern_embed(TARGET FILES…): embeds the contents of the files in the program TARGET. The generated source defines
# EmbeddedFiles(), which tools/embedded.h declares. When a file changes, the next build embeds it again.
function(tern_embed target)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.generated.cc)
  string(REPLACE ";" "|" list "${ARGN}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${list}" -DOUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding files into ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
