# find_package(Tern) reads this file, which defines the target Tern::tern.
include(${CMAKE_CURRENT_LIST_DIR}/TernTargets.cmake)
