# Configures, builds and runs one consumer in a folder of its own.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "consumer ${NAME}: this failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
if(NAME STREQUAL "installed")
  run("${CMAKE_COMMAND}" --install "${TESSERA_BUILD}" --prefix "${WORK}/first")
  file(RENAME "${WORK}/first" "${WORK}/prefix") # an installed package can be moved
  list(APPEND OPTIONS "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
else()
  list(APPEND OPTIONS "-DTESSERA_SOURCE=${TESSERA_SOURCE}")
endif()
run("${CMAKE_COMMAND}" --no-warn-unused-cli -G "${GENERATOR}" -S "${SOURCE}" -B "${WORK}/build" ${OPTIONS})
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
