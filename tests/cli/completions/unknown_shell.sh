sptile completions fsh
