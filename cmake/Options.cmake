# Warnings and sanitizers for all targets of the project, as interface libraries.
add_library(halogen_warnings INTERFACE)
target_compile_options(halogen_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Wswitch -Wno-missing-field-initializers -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about overlaps inside std::string that do not exist (PR 105329).
  target_compile_options(halogen_warnings INTERFACE -Wno-restrict)
  # With precompiled headers it also warns about impossible copies inside the library's own headers.
  if(HALOGEN_PRECOMPILED)
    target_compile_options(halogen_warnings INTERFACE -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Linux's headers end structures with zero-length arrays.
  target_compile_options(halogen_warnings INTERFACE -Wno-zero-length-array)
endif()

add_library(halogen_options INTERFACE)
target_link_libraries(halogen_options INTERFACE halogen_warnings)
if(HALOGEN_SANITIZE)
  set(sanitizers thread)
  if(HALOGEN_SANITIZE STREQUAL "address")
    set(sanitizers address,undefined)
  endif()
  target_compile_options(halogen_options INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(halogen_options INTERFACE -fsanitize=${sanitizers})
  # There are some fifty programs of a hundred megabytes each; the ordinary linker takes four times as long.
  find_program(LLD ld.lld)
  if(LLD)
    target_link_options(halogen_options INTERFACE -fuse-ld=lld)
  endif()
endif()
