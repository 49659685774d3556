# Warnings and sanitizers for all targets of the project, as interface libraries.
add_library(halogen_warnings INTERFACE)
target_compile_options(halogen_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Wswitch -Wno-missing-field-initializers -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about overlaps inside std::string (PR 105329) and about copies after inlining that cannot happen.
  target_compile_options(halogen_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds)
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

# Hardening of release builds. docs/performance.md has the cost of each flag.
# - Everything (halogen_options): read-only relocations bound at start, marks for shadow stacks, no executable stack.
# - halogen_fortified, for optimised code only: checked functions of the C library.
# - halogen_checked: checks of the C++ library and the stack protector. The rooms with the inner loops (lower_rooms in
#   Precompiled.cmake) do without, because they lose more than 3 %.
# CMake passes -pie to the linker only after the check.
include(CheckPIESupported)
check_pie_supported()
option(HALOGEN_HARDENING "Harden release builds against memory errors" ON)
add_library(halogen_fortified INTERFACE)
add_library(halogen_checked INTERFACE)
if(HALOGEN_HARDENING AND NOT HALOGEN_SANITIZE)
  set(release $<CONFIG:Release,RelWithDebInfo>)
  target_compile_options(halogen_fortified INTERFACE $<${release}:-U_FORTIFY_SOURCE> $<${release}:-D_FORTIFY_SOURCE=2>)
  target_compile_options(halogen_checked INTERFACE $<${release}:-D_GLIBCXX_ASSERTIONS>
    $<${release}:-fstack-protector-strong> $<${release}:-fstack-clash-protection>)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(halogen_options INTERFACE $<${release}:-fcf-protection=return>)
  endif()
  target_link_options(halogen_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
