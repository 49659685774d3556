# Precompiles headers that most files of a layer include; this halves the time of a full build. A compiler cache then serves
# one build folder only, so use HALOGEN_PRECOMPILED=OFF (as an option or in the environment) with several folders. Which
# files may include which headers is still checked by scripts/lint/layers.py and by builds without this option.
function(halogen_precompiled_headers layer)
  file(CONFIGURE OUTPUT ${layer}_headers.cpp CONTENT "// Exists to compile its headers.\n")
  add_library(halogen_${layer}_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${layer}_headers.cpp)
  target_include_directories(halogen_${layer}_headers PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(halogen_${layer}_headers PRIVATE halogen_generated halogen_options halogen_fortified Threads::Threads)
  if(layer STREQUAL "upper")
    target_link_libraries(halogen_${layer}_headers PRIVATE halogen_checked)  # as Rooms.cmake does
  endif()
  target_precompile_headers(halogen_${layer}_headers PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${layer}_headers.h)
endfunction()

set(lower_rooms memory surface mmio eu message compute pipe3d blit display)
# Rooms below src/ only: front ends may be compiled with other options or by another compiler. decode is left out because
# some of its names for traces collide with names of the device.
set(upper_rooms engine interrupt platform debugger device trace driver)

# Uses the precompiled headers for the library halogen_<name> if its room is in one of the lists.
function(halogen_use_precompiled name)
  if(HALOGEN_PRECOMPILED AND TARGET halogen_${name})
    foreach(layer lower upper)
      if(name IN_LIST ${layer}_rooms)
        target_precompile_headers(halogen_${name} REUSE_FROM halogen_${layer}_headers)
      endif()
    endforeach()
  endif()
endfunction()
