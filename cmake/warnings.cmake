# Flags of every target of the project: clm_flags is linked PRIVATE and never installed.
add_library(clm_flags INTERFACE)
target_compile_definitions(clm_flags INTERFACE _POSIX_C_SOURCE=200809L CL_TARGET_OPENCL_VERSION=120)
target_compile_options(clm_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
                       -Wmissing-prototypes -Wvla -Wformat -Wformat-security
                       $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> -ffp-contract=off)
if(CLM_WERROR)
  target_compile_options(clm_flags INTERFACE -Werror)
endif()
if(CLM_SANITIZE)
  target_compile_options(clm_flags INTERFACE -fsanitize=${CLM_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(clm_flags INTERFACE -fsanitize=${CLM_SANITIZE})
endif()
