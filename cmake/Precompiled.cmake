# Headers that most files of a layer read, read once: it halves the time of a build from nothing. A compiler cache then
# serves one folder only, so HALOGEN_PRECOMPILED=OFF (here or in the environment) is kinder to people with many. Which
# files may include which headers is still the matter of scripts/lint/layers.py and of builds without this.
function(halogen_precompiled_headers layer)
  file(CONFIGURE OUTPUT ${layer}_headers.cpp CONTENT "// Its headers are what counts.\n")
  add_library(halogen_${layer}_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${layer}_headers.cpp)
  target_include_directories(halogen_${layer}_headers PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(halogen_${layer}_headers PRIVATE halogen_generated halogen_options Threads::Threads)
  target_precompile_headers(halogen_${layer}_headers PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${layer}_headers.h)
endfunction()

set(lower_rooms memory surface mmio eu message compute pipe3d blit display)
# Rooms below src/ only: front ends may be compiled with other options or by another compiler. Not decode, which has
# names of traces that the device has too.
set(upper_rooms engine interrupt platform debugger device trace driver)

# For a library halogen_<name>, when its folder is one of those.
function(halogen_use_precompiled name)
  if(HALOGEN_PRECOMPILED AND TARGET halogen_${name})
    foreach(layer lower upper)
      if(name IN_LIST ${layer}_rooms)
        target_precompile_headers(halogen_${name} REUSE_FROM halogen_${layer}_headers)
      endif()
    endforeach()
  endif()
endfunction()
