# Defines the target GTest::gtest, which is the installed library. When cross-compiling, the library is instead compiled
# from the sources that Debian's package googletest installs.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(GTest REQUIRED)
elseif(NOT TARGET tern_gtest)
  find_path(GTEST_SOURCES src/gtest-all.cc HINTS /usr/src/googletest/googletest NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  add_library(tern_gtest STATIC EXCLUDE_FROM_ALL ${GTEST_SOURCES}/src/gtest-all.cc)
  target_include_directories(tern_gtest SYSTEM PUBLIC ${GTEST_SOURCES}/include PRIVATE ${GTEST_SOURCES})
  target_compile_options(tern_gtest PRIVATE -w)
  find_package(Threads REQUIRED)
  target_link_libraries(tern_gtest PUBLIC Threads::Threads)
  add_library(GTest::gtest ALIAS tern_gtest)
endif()
