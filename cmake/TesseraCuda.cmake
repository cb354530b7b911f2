# What tessera needs of CUDA, found anew on each machine: used by the build and by the installed package.
#
# tessera::cuda_headers: CCCL (cuda/std/mdspan, nv/target) and the CUDA runtime's headers, as system headers. The host library needs
# nothing else of CUDA, and no CUDA installation: the headers are also to be had from PyPI.
#
# Looked at in this order, so that one build has one CCCL:
#   1. TESSERA_CCCL_ROOT, a folder with include/ and include/cccl/; the headers must be there
#   2. the CUDA Toolkit of the enabled CUDA language, where it carries CCCL 3.0 or newer
#   3. what scripts/setup downloaded (TESSERA_DEPS)
#   4. any CUDA Toolkit

# CCCL's version in the include folder `dir`, or "" where there is none.
function(tessera_cccl_version dir result)
  set(${result} "" PARENT_SCOPE)
  set(header "${dir}/cuda/std/__cccl/version.h")
  if(EXISTS "${dir}/cuda/std/mdspan" AND EXISTS "${dir}/nv/target" AND EXISTS "${header}")
    file(STRINGS "${header}" line REGEX "define CCCL_VERSION +[0-9]+")
    if(line MATCHES "CCCL_VERSION +([0-9]+)")
      set(number ${CMAKE_MATCH_1})
      math(EXPR major "${number} / 1000000")
      math(EXPR minor "${number} / 1000 % 1000")
      math(EXPR patch "${number} % 1000")
      set(${result} "${major}.${minor}.${patch}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# The folder of CCCL 3.0 or newer below `root`, and the folder of the CUDA runtime's headers there; "" where there is none.
function(tessera_look_for_cuda_headers root cccl runtime)
  set(${cccl} "" PARENT_SCOPE)
  set(${runtime} "" PARENT_SCOPE)
  foreach(dir IN ITEMS "${root}/include/cccl" "${root}/include")
    tessera_cccl_version("${dir}" version)
    if(version VERSION_GREATER_EQUAL 3.0)
      set(${cccl} "${dir}" PARENT_SCOPE)
      break()
    endif()
  endforeach()
  if(EXISTS "${root}/include/cuda_runtime_api.h" AND EXISTS "${root}/include/crt/host_defines.h")
    set(${runtime} "${root}/include" PARENT_SCOPE)
  endif()
endfunction()

# Makes tessera::cuda_headers, and sets TESSERA_CCCL_INCLUDE_DIR and TESSERA_CUDA_RUNTIME_INCLUDE_DIR where it is called.
# GLOBAL: visible in the whole project.
function(tessera_add_cuda_headers)
  if(TARGET tessera::cuda_headers)
    return()
  endif()

  set(toolkits "")
  if(CMAKE_CUDA_COMPILER_TOOLKIT_ROOT)
    list(APPEND toolkits "${CMAKE_CUDA_COMPILER_TOOLKIT_ROOT}")
  endif()
  foreach(dir IN LISTS CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES)
    list(APPEND toolkits "${dir}/..")
  endforeach()
  set(roots "")
  if(TESSERA_CCCL_ROOT)
    set(roots "${TESSERA_CCCL_ROOT}")
  else()
    list(APPEND roots ${toolkits})
    if(TESSERA_DEPS)
      list(APPEND roots "${TESSERA_DEPS}/cuda")
    endif()
    if(NOT toolkits)
      find_program(tessera_nvcc nvcc NO_CACHE)
      if(tessera_nvcc)
        file(REAL_PATH "${tessera_nvcc}" tessera_nvcc)
        cmake_path(GET tessera_nvcc PARENT_PATH bin)
        list(APPEND roots "${bin}/..")
      endif()
      list(APPEND roots $ENV{CUDA_PATH} $ENV{CUDA_HOME} /usr/local/cuda)
    endif()
  endif()

  set(cccl "")
  set(runtime "")
  foreach(root IN LISTS roots)
    tessera_look_for_cuda_headers("${root}" found_cccl found_runtime)
    if(NOT cccl AND found_cccl)
      set(cccl "${found_cccl}")
      set(cccl_root "${root}")
      set(runtime "") # prefer the runtime's headers that came with it
    endif()
    if(NOT runtime AND found_runtime)
      set(runtime "${found_runtime}")
    endif()
  endforeach()
  if(NOT runtime) # a CCCL that came alone
    foreach(root IN LISTS toolkits)
      tessera_look_for_cuda_headers("${root}" ignored found_runtime)
      if(NOT runtime AND found_runtime)
        set(runtime "${found_runtime}")
      endif()
    endforeach()
  endif()
  if(NOT cccl OR NOT runtime)
    list(JOIN roots "\n  " looked)
    if(NOT cccl)
      set(missing "CCCL 3.0 or newer (cuda/std/mdspan, nv/target)")
    else()
      set(missing "the CUDA runtime's headers (cuda_runtime_api.h, crt/host_defines.h)")
    endif()
    message(
      FATAL_ERROR
        "tessera needs ${missing}. Looked in\n  ${looked}\n"
        "Get them in one of these ways:\n"
        "  - in a checkout of tessera, run scripts/setup: it downloads them from PyPI into .deps\n"
        "  - install the CUDA Toolkit 13.0 or newer\n"
        "  - pip download --no-deps nvidia-cuda-cccl==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88, unzip the three wheels into one "
        "folder, and set TESSERA_CCCL_ROOT to its nvidia/cu13\n")
  endif()
  tessera_cccl_version("${cccl}" version)
  cmake_path(NORMAL_PATH cccl)
  cmake_path(NORMAL_PATH runtime)
  if(NOT tessera_FIND_QUIETLY)
    message(STATUS "tessera: CCCL ${version} from ${cccl}, CUDA runtime headers from ${runtime}")
  endif()

  add_library(tessera::cuda_headers INTERFACE IMPORTED ${ARGN})
  target_include_directories(tessera::cuda_headers SYSTEM INTERFACE "${cccl}" $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:${runtime}>)
  if(toolkits AND NOT cccl_root IN_LIST toolkits)
    # nvcc puts its own CCCL before every -isystem: only -I comes earlier.
    target_compile_options(tessera::cuda_headers INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-I${cccl}>)
  endif()
  set(TESSERA_CCCL_INCLUDE_DIR "${cccl}" PARENT_SCOPE)
  set(TESSERA_CUDA_RUNTIME_INCLUDE_DIR "${runtime}" PARENT_SCOPE)
endfunction()

# Makes tessera::cuda_standard: CUDA code is C++20. CMake before 3.25.2 does not know how to say that to nvcc.
function(tessera_add_cuda_standard)
  if(TARGET tessera::cuda_standard)
    return()
  endif()
  add_library(tessera::cuda_standard INTERFACE IMPORTED ${ARGN})
  if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
    target_compile_features(tessera::cuda_standard INTERFACE cuda_std_20)
  else()
    target_compile_options(tessera::cuda_standard INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  endif()
endfunction()
