# clm_compile_messages(TARGET NAME): compiles NAME.proto into TARGET, whose files then include
# <NAME.pb-c.h>.
function(clm_compile_messages target name)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}.pb-c)
  get_filename_component(folder ${generated} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${generated}.c ${generated}.h
    COMMAND ${CLM_PROTOC_C} --proto_path=${CMAKE_CURRENT_SOURCE_DIR}
            --c_out=${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.proto
    DEPENDS ${name}.proto
    COMMENT "Compiling ${name}.proto"
    VERBATIM)
  target_sources(${target} PRIVATE ${generated}.c ${generated}.h)
  target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
