sptile list devices --threads -1
