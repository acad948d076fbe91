# cmake -DROOT=FOLDER -P check_style.cmake
# Fails unless the files of ROOT keep the rules of docs/style.md that a script can see. A rule is
# first looked for in the whole file; lines are counted only where something was found.
cmake_policy(SET CMP0057 NEW)
get_filename_component(ROOT ${ROOT} ABSOLUTE)
set(faults "")
set(line_length_max 100)
set(file_lines_max 500)
set(allowed "")
if(EXISTS ${ROOT}/cmake/style_allowed.txt)
  file(STRINGS ${ROOT}/cmake/style_allowed.txt allowed REGEX "^[a-z]")
endif()

# clm_forbid(RULE FILE CONTENT REGEX TEXT): a fault for the first place where REGEX matches.
function(clm_forbid rule file content regex text)
  if(NOT content MATCHES "${regex}" OR "${rule} ${file}" IN_LIST allowed)
    return()
  endif()
  set(hit "${CMAKE_MATCH_0}")
  string(FIND "${content}" "${hit}" at)
  string(SUBSTRING "${content}" 0 ${at} before)
  string(REGEX REPLACE "[^\n]" "" breaks "${before}")
  string(LENGTH "${breaks}" line)
  string(REGEX MATCH "^\n" leading "${hit}")
  string(LENGTH "${leading}" lead)
  math(EXPR line "${line} + ${lead} + 1")
  string(STRIP "${hit}" hit)
  set(faults ${faults} "${file}:${line}: ${text} [${rule}]: ${hit}" PARENT_SCOPE)
endfunction()

# clm_strip_comments(CONTENT RESULT): the same text and lines without comments.
function(clm_strip_comments content result)
  set(done "")
  string(FIND "${content}" "/*" start)
  while(NOT start EQUAL -1)
    string(SUBSTRING "${content}" 0 ${start} before)
    string(SUBSTRING "${content}" ${start} -1 content)
    string(FIND "${content}" "*/" end)
    if(end EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${content}" 0 ${end} comment)
    string(REGEX REPLACE "[^\n]" "" breaks "${comment}")
    string(APPEND done "${before}${breaks}")
    math(EXPR end "${end} + 2")
    string(SUBSTRING "${content}" ${end} -1 content)
    string(FIND "${content}" "/*" start)
  endwhile()
  string(APPEND done "${content}")
  string(REGEX REPLACE "//[^\n]*" "" done "${done}")
  set(${result} "${done}" PARENT_SCOPE)
endfunction()

# Rules for every text file: its size, tabs, unfinished business.
function(clm_check_text file content)
  string(REGEX REPLACE "[^\n]" "" breaks "${content}")
  string(LENGTH "${breaks}" count)
  if(count GREATER file_lines_max)
    list(APPEND faults "${file}: ${count} lines, at most ${file_lines_max} [lines]")
  endif()
  math(EXPR too_long "${line_length_max} + 1")
  file(STRINGS ${ROOT}/${file} long LENGTH_MINIMUM ${too_long} ENCODING UTF-8)
  foreach(line ${long})
    # The bytes that continue a character of UTF-8 do not count.
    string(HEX "${line}" bytes)
    string(REGEX REPLACE "(..)" "\\1 " bytes "${bytes}")
    string(REGEX REPLACE "[89ab]. " "" bytes "${bytes}")
    string(LENGTH "${bytes}" length)
    math(EXPR length "${length} / 3")
    if(length GREATER line_length_max)
      string(SUBSTRING "${line}" 0 60 line)
      list(APPEND faults "${file}: a line of over ${line_length_max} [width]: ${line}...")
      break()
    endif()
  endforeach()
  clm_forbid(tabs ${file} "${content}" "[^\n]*\t" "a tab")
  clm_forbid(todo ${file} "${content}" "(TO[D]O|FIX[M]E)[^\n]*" "unfinished business")
  set(faults ${faults} PARENT_SCOPE)
endfunction()

set(edge "(^|[^A-Za-z0-9_.>])")

# Rules for C of the library and the program.
function(clm_check_source file code)
  clm_forbid(strings ${file} "${code}" "${edge}(strcpy|strcat|sprintf|vsprintf|gets|strtok)[ ]*\\("
             "a call without bounds; use snprintf, memcpy or base/str.h")
  clm_forbid(memory ${file} "${code}"
             "${edge}(malloc|calloc|realloc|aligned_alloc|strdup|strndup|free)[ ]*\\("
             "memory goes through base/mem.h")
  if(NOT file MATCHES "^src/cli/")
    clm_forbid(exit ${file} "${code}" "${edge}(_?exit|_Exit|abort|quick_exit)[ ]*\\("
               "the library never ends the process")
    clm_forbid(print ${file} "${code}"
               "${edge}((v?printf|puts|putchar|perror)[ ]*\\(|(stdout|stderr)[^A-Za-z0-9_])"
               "the library never prints; use base/log.h")
    clm_forbid(environment ${file} "${code}" "${edge}(setenv|putenv|setlocale|system|popen)[ ]*\\("
               "the library leaves the process' surroundings alone")
  endif()
  set(faults ${faults} PARENT_SCOPE)
endfunction()

# Rules for OpenCL C: nothing is double, not even by accident. And a function that is only `inline`
# is no definition where a compiler does not inline it (C99, 6.7.4).
function(clm_check_kernel file code)
  clm_forbid(double ${file} "${code}" "${edge}double[0-9]*[^A-Za-z0-9_]"
             "OpenCL 1.2 devices need not have double")
  clm_forbid(literal ${file} "${code}"
             "${edge}([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?[^0-9a-zA-Z_.]"
             "a literal without f is a double")
  clm_forbid(literal ${file} "${code}" "${edge}[0-9]+[eE][-+]?[0-9]+[^0-9a-zA-Z_.]"
             "a literal without f is a double")
  if(NOT file STREQUAL "cl/prelude.cl")
    clm_forbid(inline ${file} "${code}" "${edge}inline[^A-Za-z0-9_][^\n]*"
               "a compiler that does not inline it has no such function: HELPER")
  endif()
  set(faults ${faults} PARENT_SCOPE)
endfunction()

# Every function of a public header is declared with CLM_API, under a comment of its own.
function(clm_check_public_header file content)
  string(REGEX REPLACE "(\\*/[ ]*\n(#[^\n]*\n)*)(CLM_API|CLM_MUST_CHECK)" "\\1" rest "${content}")
  clm_forbid(comment ${file} "${rest}" "\nCLM_(API|MUST_CHECK)[^\n]*"
             "a function without a comment")
  clm_strip_comments("${content}" code)
  string(REGEX REPLACE "\n(CLM_API|CLM_MUST_CHECK|#|[ ]|typedef)[^\n]*" "\n" rest "${code}")
  clm_forbid(api ${file} "${rest}" "\n[a-z][A-Za-z0-9_ *]*[ *]clm_[a-z0-9_]+[ ]*\\("
             "a function without CLM_API")
  clm_forbid(internal ${file} "${code}" "clm__[a-z0-9_]*" "an internal name in a public header")
  set(faults ${faults} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.[ch] ${ROOT}/src/*.def ${ROOT}/include/*.h
     ${ROOT}/cl/*.cl ${ROOT}/tests/*.[ch] ${ROOT}/cmake/*.cmake)
foreach(file ${files})
  file(READ ${ROOT}/${file} content)
  # Semicolons and brackets would be read as parts of a list.
  string(REPLACE ";" " " content "${content}")
  string(REPLACE "[" "(" content "${content}")
  string(REPLACE "]" ")" content "${content}")
  clm_check_text(${file} "${content}")
  if(file MATCHES "^src/.*\\.[ch]$")
    clm_strip_comments("${content}" code)
    clm_check_source(${file} "${code}")
  elseif(file MATCHES "^cl/")
    clm_strip_comments("${content}" code)
    clm_check_kernel(${file} "${code}")
  elseif(file MATCHES "^include/")
    clm_check_public_header(${file} "${content}")
  endif()
endforeach()

list(LENGTH files count)
if(faults)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "The rules of docs/style.md are not kept:\n  ${text}")
endif()
message(STATUS "${count} files keep to the style")
