# One interface target with what every target of ours compiles with.
add_library(fourscore_compile INTERFACE)
add_library(fourscore::compile ALIAS fourscore_compile)
target_compile_features(fourscore_compile INTERFACE cxx_std_20)
target_compile_options(fourscore_compile INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<BOOL:${FOURSCORE_WERROR}>:-Werror> $<$<BOOL:${FOURSCORE_NATIVE}>:-march=native>)
if(FOURSCORE_SANITIZE)
  target_compile_options(fourscore_compile INTERFACE -fsanitize=${FOURSCORE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fourscore_compile INTERFACE -fsanitize=${FOURSCORE_SANITIZE})
endif()
