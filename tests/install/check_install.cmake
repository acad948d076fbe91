# cmake -DBUILD=FOLDER -DSOURCE=example.c -DSCRATCH=FOLDER -DCOMPILER=cc -DLIBDIR=lib -P ...
# Installs into a folder, moves it, builds the example against it with pkg-config and with CMake,
# linked shared and static, and runs all four.
file(REMOVE_RECURSE ${SCRATCH})
set(run COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/first
                OUTPUT_QUIET ${run})
# An installed tree holds no path of its own, so it may be packed and unpacked elsewhere.
file(RENAME ${SCRATCH}/first ${SCRATCH}/prefix)
set(prefix ${SCRATCH}/prefix)
get_filename_component(folder ${SOURCE} DIRECTORY)

function(clm_run_example what program)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${prefix}/${LIBDIR} ${program}
                          "${SCRATCH}/my flowers"
                  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "tulip +[0-9]+ for training.*NO_INPUT: ")
    message(FATAL_ERROR "the example built with ${what} prints:\n${output}")
  endif()
  message(STATUS "built with ${what}: runs")
endfunction()

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
foreach(kind shared static)
  set(options "")
  set(link "")
  if(kind STREQUAL "static")
    set(options --static)
    set(link -Wl,--push-state,-Bstatic,-lclematis,--pop-state)
  endif()
  execute_process(COMMAND pkg-config ${options} --cflags --libs clematis OUTPUT_VARIABLE flags
                  OUTPUT_STRIP_TRAILING_WHITESPACE ${run})
  separate_arguments(flags UNIX_COMMAND "${flags}")
  if(link)
    list(TRANSFORM flags REPLACE "^-lclematis$" ${link})
  endif()
  execute_process(COMMAND ${COMPILER} -std=c11 -Wall -Wextra -Werror -o ${SCRATCH}/by_hand_${kind}
                          ${SOURCE} ${flags} ${run})
  clm_run_example("pkg-config, ${kind}" ${SCRATCH}/by_hand_${kind})
endforeach()

configure_file(${folder}/project.cmake.in ${SCRATCH}/project/CMakeLists.txt @ONLY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SCRATCH}/project -B ${SCRATCH}/project/build
                        -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix}
                        -DCMAKE_C_FLAGS=-std=c11
                OUTPUT_QUIET ${run})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH}/project/build OUTPUT_QUIET ${run})
foreach(kind shared static)
  clm_run_example("find_package, ${kind}" ${SCRATCH}/project/build/example_${kind})
endforeach()

if(EXISTS ${prefix}/bin/clematis)
  execute_process(COMMAND ${prefix}/bin/clematis version OUTPUT_VARIABLE output ${run})
  message(STATUS "the installed program says: ${output}")
  if(NOT EXISTS ${prefix}/share/man/man1/clematis.1)
    message(FATAL_ERROR "the manual page is not installed")
  endif()
endif()
file(REMOVE_RECURSE ${SCRATCH})
