# cmake -DSCRATCH=FOLDER -DCOMPILER=cc -DINCLUDE=src -P check_embed.cmake
# Fails unless embed_files.cmake carries awkward bytes over whole, and in a time that does not grow
# faster than the sources.
file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/a.cl "x = \"\\n\" ; y[1] = '\"'; // ${CMAKE_COMMAND}\n\n;;\\\n")
file(WRITE ${SCRATCH}/empty.cl "")
string(REPEAT "0123456789abcdef0123456789abcde\n" 16384 large)
file(WRITE ${SCRATCH}/large.cl "${large}")
string(TIMESTAMP start "%s")
set(files ${SCRATCH}/a.cl ${SCRATCH}/empty.cl ${SCRATCH}/large.cl)
execute_process(COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUTPUT=${SCRATCH}/out.c
                        -P ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake
                COMMAND_ERROR_IS_FATAL ANY)
string(TIMESTAMP end "%s")
math(EXPR seconds "${end} - ${start}")
if(seconds GREATER 10)
  message(FATAL_ERROR "embedding 512 KB took ${seconds} s")
endif()

file(WRITE ${SCRATCH}/main.c "#include \"dev/source.h\"
#include <stdio.h>
int main(int count, char **names)
{
  if (count != 2) return 1;
  const int index = names[1][0] - '0';
  const clm__source *source = &clm__sources[index];
  return fwrite(source->text, 1, source->size_bytes, stdout) != source->size_bytes ||
         source->text[source->size_bytes] != 0 || clm__sources[3].name != NULL;
}\n")
execute_process(COMMAND ${COMPILER} -I${INCLUDE} -o ${SCRATCH}/main ${SCRATCH}/main.c
                        ${SCRATCH}/out.c COMMAND_ERROR_IS_FATAL ANY)
set(index 0)
foreach(file ${files})
  execute_process(COMMAND ${SCRATCH}/main ${index} OUTPUT_FILE ${SCRATCH}/back
                  COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${file} expected)
  file(SHA256 ${SCRATCH}/back actual)
  if(NOT expected STREQUAL actual)
    message(FATAL_ERROR "${file} does not come out of the embedded table as it went in")
  endif()
  math(EXPR index "${index} + 1")
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
message(STATUS "embedding carries every byte, 512 KB in ${seconds} s")
