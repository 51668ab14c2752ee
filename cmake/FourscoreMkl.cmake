# Intel oneMKL: its headers, and the folder of its shared libraries, which programs open when they use them
# (drivers/local/mkl_library.hpp). MKL_ROOT alone, where it is set; else the environment's MKLROOT, which its modules set,
# CMAKE_PREFIX_PATH, and the project's own .venv (jobscripts/setup --with mkl).
#
# Sets FOURSCORE_MKL, FOURSCORE_MKL_INCLUDE_DIR, FOURSCORE_MKL_LIBRARY_DIR, FOURSCORE_MKL_VERSION, or FOURSCORE_MKL_MISSING with the reason.

# fourscore_find_mkl() looks for the files; whether they work is asked by fourscore_check_mkl().
function(fourscore_find_mkl)
  set(FOURSCORE_MKL_MISSING "" PARENT_SCOPE)
  if(DEFINED MKL_ROOT)
    set(places PATHS "${MKL_ROOT}" NO_DEFAULT_PATH)
    set(named "MKL_ROOT is '${MKL_ROOT}', which has no")
  else()
    set(places HINTS "$ENV{MKLROOT}" PATHS "${PROJECT_SOURCE_DIR}/.venv")
    set(named "no")
  endif()
  # Not from the cache: it may come and go with .venv.
  unset(mkl_include_dir)
  unset(mkl_core)
  find_path(mkl_include_dir mkl_dfti.h ${places} PATH_SUFFIXES include include/mkl NO_CACHE)
  if(NOT mkl_include_dir)
    set(FOURSCORE_MKL_MISSING "${named} mkl_dfti.h found: jobscripts/setup --with mkl, a module that sets MKLROOT, or -DMKL_ROOT=" PARENT_SCOPE)
    return()
  endif()
  string(REGEX REPLACE "/+$" "" mkl_include_dir "${mkl_include_dir}")
  find_file(mkl_core NAMES libmkl_core.so.3 libmkl_core.so.2 libmkl_core.so.1 libmkl_core.so ${places}
    PATH_SUFFIXES lib lib/intel64 lib64 NO_CACHE)
  if(NOT mkl_core)
    set(FOURSCORE_MKL_MISSING "${mkl_include_dir}/mkl_dfti.h is here, but no shared libmkl_core" PARENT_SCOPE)
    return()
  endif()
  cmake_path(GET mkl_core PARENT_PATH library_dir)
  foreach(layer intel_lp64 sequential)
    file(GLOB files "${library_dir}/libmkl_${layer}.so*")
    if(NOT files)
      file(GLOB others "${library_dir}/libmkl_intel_ilp64.so*")
      set(reason "${library_dir} has no libmkl_${layer}.so")
      if(layer STREQUAL "intel_lp64" AND others)
        string(APPEND reason ", only libmkl_intel_ilp64, whose integers have 64 bits; expected LP64")
      endif()
      set(FOURSCORE_MKL_MISSING "${reason}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(FOURSCORE_MKL_INCLUDE_DIR "${mkl_include_dir}" PARENT_SCOPE)
  set(FOURSCORE_MKL_LIBRARY_DIR "${library_dir}" PARENT_SCOPE)
endfunction()

# A program that opens the libraries as ours do, and transforms eight numbers.
function(fourscore_check_mkl)
  set(source "${CMAKE_BINARY_DIR}/CMakeFiles/check_mkl.c")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [[
#include <dlfcn.h>
#include <mkl_dfti.h>
#include <stdio.h>
#include <unistd.h>
static int load(const char* name) {
  static const char* const endings[] = {".so.3", ".so.2", ".so.1", ".so"};
  for (int i = 0; i < 4; ++i) {
    char file[4096];
    snprintf(file, sizeof file, "@FOURSCORE_MKL_LIBRARY_DIR@/lib%s%s", name, endings[i]);
    if (access(file, F_OK)) continue;
    if (dlopen(file, RTLD_LAZY | RTLD_GLOBAL)) return 1;
    printf("%s", dlerror());
    return 0;
  }
  printf("there is no lib%s", name);
  return 0;
}
#define FUNCTION(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(RTLD_DEFAULT, #name)
int main(void) {
  if (!load("mkl_core") || !load("mkl_sequential") || !load("mkl_intel_lp64")) return 1;
  FUNCTION(DftiCreateDescriptor);
  FUNCTION(DftiCommitDescriptor);
  FUNCTION(DftiComputeForward);
  void (*version)(char*, int) = (void (*)(char*, int))dlsym(RTLD_DEFAULT, "MKL_Get_Version_String");
  if (!p_DftiCreateDescriptor || !p_DftiCommitDescriptor || !p_DftiComputeForward || !version) return printf("it lacks functions of DFTI");
  double data[16] = {1};
  DFTI_DESCRIPTOR_HANDLE handle = 0;
  if (p_DftiCreateDescriptor(&handle, DFTI_DOUBLE, DFTI_COMPLEX, (MKL_LONG)1, (MKL_LONG)8) || p_DftiCommitDescriptor(handle) ||
      p_DftiComputeForward(handle, data))
    return printf("a transform of eight numbers fails");
  for (int i = 0; i < 16; ++i)
    if (data[i] != (i % 2 == 0)) return printf("a transform of eight numbers is wrong");
  char text[200] = "";
  version(text, 199);
  printf("%s", text);
  return 0;
}
]])
  unset(mkl_runs CACHE)
  unset(mkl_compiles CACHE)
  try_run(mkl_runs mkl_compiles "${CMAKE_BINARY_DIR}/CMakeFiles/check_mkl" "${source}"
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${FOURSCORE_MKL_INCLUDE_DIR}" LINK_LIBRARIES ${CMAKE_DL_LIBS}
    COMPILE_OUTPUT_VARIABLE compiled RUN_OUTPUT_VARIABLE said)
  string(STRIP "${said}" said)
  string(REGEX REPLACE "[\r\n|;\"]+" " " said "${said}")
  if(NOT mkl_compiles)
    set(FOURSCORE_MKL_MISSING "a program with ${FOURSCORE_MKL_INCLUDE_DIR}/mkl_dfti.h does not compile" PARENT_SCOPE)
  elseif(NOT mkl_runs EQUAL 0)
    set(FOURSCORE_MKL_MISSING "MKL in ${FOURSCORE_MKL_LIBRARY_DIR} does not run: ${said}" PARENT_SCOPE)
  else()
    set(FOURSCORE_MKL_VERSION "${said}" PARENT_SCOPE)
  endif()
endfunction()

set(FOURSCORE_MKL FALSE)
if(NOT FOURSCORE_WITH_MKL)
  set(FOURSCORE_MKL_MISSING "FOURSCORE_WITH_MKL is OFF")
else()
  fourscore_find_mkl()
  if(NOT FOURSCORE_MKL_MISSING)
    fourscore_check_mkl()
  endif()
  if(NOT FOURSCORE_MKL_MISSING)
    set(FOURSCORE_MKL TRUE)
  endif()
endif()
fourscore_part("oneMKL" ${FOURSCORE_MKL} drivers/local/mkl.cpp "local FFT library mkl, ${FOURSCORE_MKL_LIBRARY_DIR}: ${FOURSCORE_MKL_VERSION}" "${FOURSCORE_MKL_MISSING}")
