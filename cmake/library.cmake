# libclematis, shared and static, from the objects of all floors, and the program.
set(outside m Threads::Threads PkgConfig::OPENCL PkgConfig::CLBLAST PkgConfig::JPEG PkgConfig::PNG
    PkgConfig::ZIP PkgConfig::JANSSON PkgConfig::PROTOBUF_C PkgConfig::HDF5 ${mpi})
get_property(floors GLOBAL PROPERTY CLM_FLOORS)
set(objects "")
foreach(floor ${floors})
  list(APPEND objects $<TARGET_OBJECTS:clm_${floor}>)
endforeach()

# clm_describe(TARGET): the name libclematis and the headers an application includes.
function(clm_describe target)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME clematis LINKER_LANGUAGE C)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

add_library(clematis_shared SHARED ${objects})
clm_describe(clematis_shared)
# Before 1.0 every minor version may change the interface, so the soname carries both numbers.
set_target_properties(clematis_shared PROPERTIES VERSION ${PROJECT_VERSION} EXPORT_NAME clematis
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(clematis_shared PRIVATE clm_flags ${outside})
if(NOT CLM_SANITIZE)
  target_link_options(clematis_shared PRIVATE -Wl,--no-undefined)
endif()

# An archive cannot hide names between its members. So the members are joined into one object
# first, and what is hidden in the shared library becomes local there.
set(joined ${CMAKE_CURRENT_BINARY_DIR}/clematis.o)
add_custom_command(
  OUTPUT ${joined}
  COMMAND ${CMAKE_LINKER} -r -o ${joined} ${objects}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${joined}
  DEPENDS ${objects}
  COMMENT "Joining the objects of the static library"
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(clematis_static STATIC ${joined})
set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
clm_describe(clematis_static)
set_target_properties(clematis_static PROPERTIES EXPORT_NAME clematis_static)
target_link_libraries(clematis_static PRIVATE ${outside})

# The program is the library's first user: it sees include/clematis and nothing else.
file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*.c)
if(cli_sources)
  add_executable(clematis ${cli_sources})
  target_include_directories(clematis PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(clematis PRIVATE clm_flags clematis_shared)
  set_target_properties(clematis PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
                        INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  # The manual page comes from the same table as the options.
  add_custom_command(OUTPUT clematis.1 COMMAND clematis help man > clematis.1 DEPENDS clematis
                     COMMENT "Writing the manual page" VERBATIM)
  add_custom_target(manual ALL DEPENDS clematis.1)
endif()
