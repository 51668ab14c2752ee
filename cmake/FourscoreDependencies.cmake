# Required parts end the configure run; optional ones switch themselves off and are listed with the reason
# (fourscore_optional, printed by FourscoreSummary).

set_property(GLOBAL PROPERTY FOURSCORE_OPTIONAL "")
# fourscore_optional(<name> found|off <reason>): one line of the summary. The reason says who uses it, or why it is off.
function(fourscore_optional name state reason)
  string(REPLACE ";" "\\;" reason "${reason}")  # the property is a list
  set_property(GLOBAL APPEND PROPERTY FOURSCORE_OPTIONAL "${name}|${state}|${reason}")
endfunction()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(muparser REQUIRED IMPORTED_TARGET muparser)
find_path(FOURSCORE_VALIJSON_INCLUDE_DIR valijson/validator.hpp)
if(NOT FOURSCORE_VALIJSON_INCLUDE_DIR)
  message(FATAL_ERROR "valijson/validator.hpp is not found: the header-only library valijson (Debian: libvalijson-dev) checks records; its folder goes into CMAKE_PREFIX_PATH or FOURSCORE_VALIJSON_INCLUDE_DIR")
endif()

find_package(FFTW3 REQUIRED COMPONENTS double single OPTIONAL_COMPONENTS double_threads single_threads double_mpi single_mpi)
set(FOURSCORE_FFTW_THREADS FALSE)  # whatever another find_package(FFTW3) finds later
if(FOURSCORE_WITH_FFTW_THREADS AND FFTW3_double_threads_FOUND AND FFTW3_single_threads_FOUND)
  set(FOURSCORE_FFTW_THREADS TRUE)
endif()
include(FourscoreMpi)
include(FourscoreOptionalParts)
