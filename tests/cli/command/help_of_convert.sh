sptile convert --help
