# One interface target with what every target of ours compiles with. Warnings and -march stay out of the installed
# package: they are ours, not our users'.
add_library(fourscore_compile INTERFACE)
add_library(fourscore::compile ALIAS fourscore_compile)
target_compile_features(fourscore_compile INTERFACE cxx_std_20)
# -Wconversion brings -Wsign-conversion along in Clang only; both compilers check the same here.
target_compile_options(fourscore_compile INTERFACE
  $<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion>
  $<BUILD_INTERFACE:$<$<BOOL:${FOURSCORE_WERROR}>:-Werror>>
  $<BUILD_INTERFACE:$<$<BOOL:${FOURSCORE_NATIVE}>:-march=native>>)
if(FOURSCORE_SANITIZE)
  target_compile_options(fourscore_compile INTERFACE -fsanitize=${FOURSCORE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fourscore_compile INTERFACE -fsanitize=${FOURSCORE_SANITIZE})
endif()
