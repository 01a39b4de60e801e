# Run by the build: writes the header OUTPUT, which defines TERN_INTERFACE_ID as a hash over VERSION and the names and contents of the
# files listed in FILES, relative to ROOT. It depends on nothing else, such as paths or times. An unchanged header is not rewritten.
file(STRINGS ${FILES} files)
set(text "${VERSION}")
foreach(file ${files})
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND text "\n${file} ${hash}")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 16 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define TERN_INTERFACE_ID \"${id}\"\n" @ONLY)
