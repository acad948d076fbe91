# What `cmake --install` puts where, with the files by which others find the library.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/clematis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(TARGETS clematis_shared EXPORT ClematisTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS clematis_static EXPORT ClematisStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Clematis)
foreach(set ClematisTargets ClematisStaticTargets)
  install(EXPORT ${set} NAMESPACE Clematis:: DESTINATION ${package_folder})
endforeach()
configure_package_config_file(cmake/ClematisConfig.cmake.in ClematisConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(ClematisConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ClematisConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ClematisConfigVersion.cmake
        DESTINATION ${package_folder})

# For static linking pkg-config names the same libraries that the build linked.
set(private_modules OpenCL clblast libjpeg libpng libzip jansson libprotobuf-c
    ${HDF5_MODULE_NAME})
list(JOIN private_modules " " CLM_PRIVATE_MODULES)
set(CLM_PRIVATE_LIBRARIES "-lm -pthread")
foreach(library ${MPI_C_LIBRARIES})
  string(APPEND CLM_PRIVATE_LIBRARIES " ${library}")
endforeach()
file(RELATIVE_PATH CLM_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" CLM_PC_UP "${CLM_PC_UP}")
configure_file(cmake/clematis.pc.in clematis.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clematis.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB pages CONFIGURE_DEPENDS README.md CHANGELOG.md LICENSE docs/*.md)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(folder docs/ops docs/decisions)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL
          FILES_MATCHING PATTERN "*.md")
endforeach()

if(TARGET clematis)
  install(TARGETS clematis RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/src/clematis.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
