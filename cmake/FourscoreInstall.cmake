# install(TARGETS ...) stands with each target.
