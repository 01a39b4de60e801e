# find_package(Tern) gives the target Tern::tern.
include(${CMAKE_CURRENT_LIST_DIR}/TernTargets.cmake)
