# The build runs this script. It writes the header OUTPUT, which defines TERN_INTERFACE_ID. The value is a hash of
# VERSION and of the names and contents of the files that the text file FILES lists, relative to ROOT. The hash
# depends on nothing else. If the hash has not changed, the header is not rewritten.
file(STRINGS ${FILES} files)
set(text "${VERSION}")
foreach(file ${files})
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND text "\n${file} ${hash}")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 16 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define TERN_INTERFACE_ID \"${id}\"\n" @ONLY)
