# bash: read by bash-completion where it is installed, else `source` it.
_fourscore() {
  local IFS=$'\n'
  COMPREPLY=($(fourscore complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fourscore fourscore
