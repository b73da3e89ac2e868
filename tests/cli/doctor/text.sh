# Whatever the machine, as long as what is there works.
env -u SPTILE_PROFILE XDG_CONFIG_HOME="$PWD" sptile doctor --threads 1
