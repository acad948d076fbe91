# cmake -DFILES=a.cl;b.cl -DOUTPUT=kernels.c -P embed_files.cmake
set(arrays "")
set(rows "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} symbol)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
         bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${symbol}[] = {\n${bytes}0};\n")
  string(APPEND rows "  {\"${name}\", (const char *)${symbol}, sizeof ${symbol} - 1},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"dev/source.h\"\n\n#include <stddef.h>\n\n${arrays}
const clm__source clm__sources[] = {\n${rows}  {NULL, NULL, 0}};\n")
