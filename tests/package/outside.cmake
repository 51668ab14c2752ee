# See CMakeLists.txt. Run with -P; every step must succeed.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output WORKING_DIRECTORY "${WORK}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status} of: ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text what)
  string(FIND "${text}" "${what}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "expected '${what}' in:\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
step("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK}/prefix")
step("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
  "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -DCMAKE_BUILD_TYPE=Release)
step("${CMAKE_COMMAND}" --build "${WORK}/build")

step("${WORK}/build/boxes")
expect("${output}" "10 elements on 3 ranks: 4 3 3")

step("${MPIEXEC}" -n 2 "${WORK}/build/my_bench" --variant on-one-rank --shape 12x10x8 --precision double --repetitions 2
  --record "${WORK}/record.json")
file(READ "${WORK}/record.json" record)
string(JSON status GET "${record}" verdict status)
string(JSON variant GET "${record}" cards variant name)
if(NOT status STREQUAL "ok" OR NOT variant STREQUAL "on-one-rank")
  message(FATAL_ERROR "expected an ok record of on-one-rank, got '${status}' of '${variant}'")
endif()

# It counts instructions itself, or says where its build without AVX-512 belongs; with one there it does.
step("${WORK}/build/my_bench" --list)
if(output MATCHES "AVX-512 instructions")
  expect("${output}" "${WORK}/build/simulator/my_bench; build its project there")
  file(COPY "${WORK}/build/my_bench" DESTINATION "${WORK}/build/simulator")
  step("${WORK}/build/my_bench" --list)
  if(output MATCHES "AVX-512 instructions")
    message(FATAL_ERROR "expected the build in ${WORK}/build/simulator to be found, in:\n${output}")
  endif()
endif()

# Its exchange and its local library, in a variant of ours.
step("${MPIEXEC}" -n 2 "${WORK}/build/my_bench" --variant slab --exchange in-order --local-fft definition --shape 12x10x9
  --layout natural --buffers out-of-place --precision single --repetitions 2 --record "${WORK}/parts.json")
file(READ "${WORK}/parts.json" record)
foreach(part exchange local_fft)
  string(JSON name GET "${record}" cards ${part} name)
  list(APPEND names "${name}")
endforeach()
string(JSON status GET "${record}" verdict status)
if(NOT status STREQUAL "ok" OR NOT names STREQUAL "in-order;definition")
  message(FATAL_ERROR "expected an ok record with in-order and definition, got '${status}' with '${names}'")
endif()

# The installed command finds the suites and the programs that were installed with it.
step("${WORK}/prefix/${BINDIR}/fourscore" list suites)
expect("${output}" "smoke")
if(NOT EXISTS "${WORK}/prefix/share/fourscore/groups/any/SOFTWARE.toml")
  message(FATAL_ERROR "the event groups are not installed below share/fourscore/groups")
endif()
if(NOT EXISTS "${WORK}/prefix/share/fourscore/analysis/fourscore_papers/haynes2000/published/section-5.json")
  message(FATAL_ERROR "the papers' numbers are not installed below share/fourscore/analysis")
endif()
step("${WORK}/prefix/${BINDIR}/fourscore" list variants)
expect("${output}" "pencil")
