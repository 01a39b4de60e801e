# An install script. Copies to tern/lib the shared libraries that the files of the list `built` need. Each copy has the name
# by which its library is loaded. Omits libraries of Tern and the run-time of C and C++.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${built} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+|resolv|util)\\.so" "^libtern"
  POST_EXCLUDE_REGEXES "/ld-linux[^/]*$")
if(missing)
  message(FATAL_ERROR "the wheel needs libraries that this machine does not have: ${missing}")
endif()
foreach(library ${found})
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} real)
  message(STATUS "Bundling: ${name}")
  file(COPY_FILE ${real} $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/tern/lib/${name} ONLY_IF_DIFFERENT)
endforeach()
