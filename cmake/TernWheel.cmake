# tern_install_wheel(MODULE PROGRAM LIBRARIES…): installs the component `python`, which contains the compiled files of the
# wheel: the extension module in tern/, the program in tern/bin, the libraries in tern/lib. The libraries of the system
# that these files need are copied to tern/lib too, except those of the C and C++ run-time. So the wheel runs on machines
# that do not have these libraries. A test (tests/python/test_wheel.py) checks this.
# The linker writes DT_RPATH instead of DT_RUNPATH in a build for a wheel, because the dynamic linker also uses DT_RPATH for
# the libraries that a copied library needs.
function(tern_install_wheel module program)
  foreach(library ${ARGN})  # a wheel cannot store links, so a file such as libtern.so.0 must have this name itself
    get_target_property(version ${library} SOVERSION)
    if(SKBUILD AND NOT version STREQUAL "version-NOTFOUND")
      set_target_properties(${library} PROPERTIES VERSION ${version})
    endif()
  endforeach()
  install(TARGETS ${module} LIBRARY DESTINATION tern COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS ${program} RUNTIME DESTINATION tern/bin COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS ${ARGN} LIBRARY DESTINATION tern/lib COMPONENT python EXCLUDE_FROM_ALL NAMELINK_SKIP)
  set(files)
  foreach(target ${module} ${program} ${ARGN})
    list(APPEND files $<TARGET_FILE:${target}>)
  endforeach()
  install(CODE "set(built \"${files}\")" COMPONENT python EXCLUDE_FROM_ALL)
  install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/bundle_libraries.cmake COMPONENT python EXCLUDE_FROM_ALL)
endfunction()
