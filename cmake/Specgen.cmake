# Runs tools/specgen over spec/ and builds its output as the library halogen_generated.
# specgen prints the list of files that it will write, so that the build knows them in advance.
set(SPECGEN_OUT ${CMAKE_BINARY_DIR}/generated)
file(GLOB_RECURSE spec_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/spec/*.toml)
file(GLOB_RECURSE specgen_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/specgen/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${specgen_files})
execute_process(
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/specgen/specgen.py outputs
          --spec ${CMAKE_SOURCE_DIR}/spec --out ${SPECGEN_OUT}
  OUTPUT_VARIABLE specgen_outputs COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${specgen_outputs}" specgen_outputs)
string(REPLACE "\n" ";" specgen_outputs "${specgen_outputs}")
add_custom_command(
  OUTPUT ${specgen_outputs}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/specgen/specgen.py generate
          --spec ${CMAKE_SOURCE_DIR}/spec --out ${SPECGEN_OUT}
  DEPENDS ${spec_files} ${specgen_files}
  COMMENT "specgen: spec/ -> C++"
  VERBATIM)
# The generated files alone, for tools that only read sources (scripts/tidy.sh).
add_custom_target(generated_sources DEPENDS ${specgen_outputs})
set(specgen_sources ${specgen_outputs})
list(FILTER specgen_sources EXCLUDE REGEX "/test/")
add_library(halogen_generated STATIC ${specgen_sources})
target_include_directories(halogen_generated PUBLIC ${SPECGEN_OUT} ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(halogen_generated PUBLIC halogen_base
  PRIVATE halogen_options)
if(HALOGEN_PRECOMPILED)
  target_precompile_headers(halogen_generated PRIVATE <array> <cstdint> <span> <string_view> "${CMAKE_SOURCE_DIR}/src/spec/descriptors.h")
endif()
# -O3 doubles compile time and size of this straight-line code without a gain in speed.
target_compile_options(halogen_generated PRIVATE $<$<CONFIG:Release>:-O2>)

# Access to members by name, for tests of the generated code only; speed does not matter.
add_library(halogen_members STATIC EXCLUDE_FROM_ALL ${SPECGEN_OUT}/test/members.cpp)
target_link_libraries(halogen_members PUBLIC halogen_generated PRIVATE halogen_options)
target_compile_options(halogen_members PRIVATE -O0)
add_dependencies(halogen_members halogen_generated)

# Reference pages of every command, structure and register: <build folder>/reference/README.md.
set(reference_stamp ${CMAKE_BINARY_DIR}/reference.stamp)
add_custom_command(
  OUTPUT ${reference_stamp}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/specgen/specgen.py docs
          --spec ${CMAKE_SOURCE_DIR}/spec --out ${CMAKE_BINARY_DIR}/reference
  COMMAND ${CMAKE_COMMAND} -E touch ${reference_stamp}
  DEPENDS ${spec_files} ${specgen_files}
  COMMENT "specgen: spec/ -> reference pages"
  VERBATIM)
add_custom_target(reference ALL DEPENDS ${reference_stamp})
