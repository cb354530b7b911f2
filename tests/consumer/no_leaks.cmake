# A target that links to tessera is compiled with its own flags: C++20, include folders, nothing of ours. At build time the commands say so.

target_compile_options(consumer PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror>)
set_target_properties(consumer PROPERTIES EXPORT_COMPILE_COMMANDS ON)
foreach(target IN ITEMS tessera::tessera tessera::cuda tessera::cuda_headers tessera::cuda_standard)
  if(TARGET ${target})
    get_target_property(options ${target} INTERFACE_COMPILE_OPTIONS)
    get_target_property(definitions ${target} INTERFACE_COMPILE_DEFINITIONS)
    if(options)
      list(FILTER options EXCLUDE REGEX "^\\$<\\$<COMPILE_LANGUAGE:CUDA>:-(I[^ ]*|std=c\\+\\+20)>$")
    endif()
    if(options OR definitions)
      message(FATAL_ERROR "${target} hands on ${options} ${definitions}")
    endif()
  endif()
endforeach()

add_custom_command(
  TARGET consumer POST_BUILD
  COMMAND "${CMAKE_COMMAND}" "-DCOMMANDS=${CMAKE_BINARY_DIR}/compile_commands.json" -P "${CMAKE_CURRENT_LIST_DIR}/no_leaked_flags.cmake" VERBATIM)
