# Turns cl/*.cl and the shipped tuning values into one C file of byte arrays, without any program
# but CMake itself.

# clm_embed_kernels(TARGET): adds the generated table (dev/source.h declares it) to TARGET.
function(clm_embed_kernels target)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cl/*.cl ${PROJECT_SOURCE_DIR}/cl/*.txt)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/kernels.c)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${kernels}" -DOUTPUT=${generated}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${kernels} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    COMMENT "Embedding the kernels"
    VERBATIM)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_sources(${target} PRIVATE ${generated})
  endif()
endfunction()
