# Whether programs of this build have AVX-512 instructions, which Valgrind does not know: FOURSCORE_HAS_AVX512
# (FourscoreSimulator.cmake). FOURSCORE_AVX512_FLAG leaves them out.
if(NOT FOURSCORE_AVX512 MATCHES "^(AUTO|OFF|ON)$")
  message(FATAL_ERROR "FOURSCORE_AVX512 is '${FOURSCORE_AVX512}'; expected AUTO, OFF or ON")
endif()
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

set(FOURSCORE_AVX512_FLAG "")
if(FOURSCORE_AVX512 STREQUAL "OFF")
  check_cxx_compiler_flag(-mno-avx512f FOURSCORE_KNOWS_AVX512)
  if(FOURSCORE_KNOWS_AVX512)
    set(FOURSCORE_AVX512_FLAG "-mno-avx512f")
  endif()
endif()

set(CMAKE_REQUIRED_FLAGS "${CMAKE_CXX_FLAGS}")
if(FOURSCORE_NATIVE)
  string(APPEND CMAKE_REQUIRED_FLAGS " -march=native")
endif()
string(APPEND CMAKE_REQUIRED_FLAGS " ${FOURSCORE_AVX512_FLAG}")
# The answer is kept in the cache, for these flags alone.
string(MAKE_C_IDENTIFIER "FOURSCORE_HAS_AVX512 ${CMAKE_REQUIRED_FLAGS}" has_avx512)
check_cxx_source_compiles("#ifndef __AVX512F__\n#error none\n#endif\nint main() { return 0; }" ${has_avx512})
unset(CMAKE_REQUIRED_FLAGS)
set(FOURSCORE_HAS_AVX512 "${${has_avx512}}")
if(FOURSCORE_AVX512 STREQUAL "ON")
  set(FOURSCORE_HAS_AVX512 TRUE)
endif()
