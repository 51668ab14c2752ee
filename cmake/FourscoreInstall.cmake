# What is installed beside the programs (install(TARGETS ...) of a program stands with it): the package by which others
# add a variant, an exchange or a local library outside this tree, the Python package, and the documentation.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/fourscore")
set(libraries fourscore_compile fourscore_core fourscore_kernels)
foreach(library fourscore_results fourscore_simulation fourscore_simgrid fourscore_drivers fourscore_local fourscore_exchanges fourscore_operators
    fourscore_2decomp fourscore_cuda_kernels fourscore_variants fourscore_hwcounters fourscore_program fourscore_fft_bench)
  if(TARGET ${library})
    list(APPEND libraries ${library})
  endif()
endforeach()
foreach(library IN LISTS libraries)
  string(REPLACE "fourscore_" "" name "${library}")
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${libraries} EXPORT fourscore
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/fourscore
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fourscore)
install(EXPORT fourscore NAMESPACE fourscore:: DESTINATION ${package_dir} FILE fourscoreTargets.cmake)

install(DIRECTORY drivers/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fourscore FILES_MATCHING PATTERN "*.hpp"
  PATTERN program EXCLUDE PATTERN components EXCLUDE)
# What a plugin is written against, in C or Fortran.
install(FILES drivers/interfaces/fourscore.h examples/plugins/fortran/fourscore.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY core results hwcounters DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fourscore FILES_MATCHING PATTERN "*.hpp")

set(FOURSCORE_WITH_MPI ${MPI_C_FOUND})
configure_package_config_file(cmake/fourscoreConfig.cmake.in "${CMAKE_BINARY_DIR}/fourscoreConfig.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/fourscoreConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/fourscoreConfig.cmake" "${CMAKE_BINARY_DIR}/fourscoreConfigVersion.cmake" cmake/FindFFTW3.cmake cmake/FindAccFFT.cmake cmake/FindcuDecomp.cmake cmake/FindP3DFFT.cmake cmake/FourscoreMpiCxx.cmake
  DESTINATION ${package_dir})

install(DIRECTORY hwcounters/groups DESTINATION ${FOURSCORE_INSTALL_DATADIR} FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY analysis/fourscore analysis/fourscore_analysis analysis/fourscore_papers DESTINATION ${FOURSCORE_INSTALL_DATADIR}/analysis PATTERN __pycache__ EXCLUDE)
# Compiled: who uses an installation may often not write there, and commands would compile it each time they start.
if(FOURSCORE_PYTHON)
  install(CODE "execute_process(COMMAND \"\${CMAKE_COMMAND}\" -E env --unset=PYTHONPYCACHEPREFIX \"${FOURSCORE_PYTHON}\" -m compileall -q
    --invalidation-mode checked-hash -s \"\$ENV{DESTDIR}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${FOURSCORE_INSTALL_DATADIR}/analysis\")")
endif()
install(FILES analysis/pyproject.toml LICENSE DESTINATION ${FOURSCORE_INSTALL_DATADIR}/analysis)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
