# fish: found in vendor_completions.d.
complete -c fourscore -a '(fourscore complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
