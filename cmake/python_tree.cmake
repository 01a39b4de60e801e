# Lays out the package tern for tests: links to the Python files of the checkout, to the libraries and to the command.
# Variables: FROM is python/tern, TO is the folder to fill, BUILD is the build folder.
cmake_minimum_required(VERSION 3.22)
file(GLOB_RECURSE files RELATIVE ${FROM} ${FROM}/*.py ${FROM}/*.pyi ${FROM}/py.typed)
foreach(file ${files})
  get_filename_component(folder ${TO}/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${FROM}/${file} ${TO}/${file} SYMBOLIC)
endforeach()
file(CREATE_LINK ${BUILD}/lib ${TO}/lib SYMBOLIC)
file(CREATE_LINK ${BUILD}/bin ${TO}/bin SYMBOLIC)
# Removes the links to files that the checkout no longer has.
file(GLOB_RECURSE links RELATIVE ${TO} ${TO}/*.py ${TO}/*.pyi)
foreach(link ${links})
  if(IS_SYMLINK ${TO}/${link} AND NOT EXISTS ${FROM}/${link})
    file(REMOVE ${TO}/${link})
  endif()
endforeach()
