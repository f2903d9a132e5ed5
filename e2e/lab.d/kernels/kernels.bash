# Sourced: the kernels of guests, each in a folder of LAB_DIR: usr/bin/linux.uml, its modules, and busybox.
#   guest      Debian's, with one processor
#   guest-smp  with several
# shellcheck shell=bash

# Increase when finished folders must be rebuilt.
declare -A RECIPES=([guest]=1 [guest-smp]=1)

# kernel_is_there LAB_DIR FOLDER
kernel_is_there() { [[ $(cat "$1/$2/recipe" 2>/dev/null) == "${RECIPES[$2]}" ]]; }
