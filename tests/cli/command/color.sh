# Colours: of errors, headings and marks. In pipes there are none, unless they are asked for.
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
coloured() { grep -c $'\033' || true; }
sptile convert --help | coloured
sptile convert --help --color never | coloured
sptile --color=always convert --help | sed -n 's/\x1b\[/ESC[/gp'
sptile list formats --color always | sed -n 's/\x1b\[/ESC[/gp'
sptile verify a.h5 --color always | sed 's/\x1b\[/ESC[/g'
sptile verify a.h5 --color always --json | coloured
NO_COLOR=1 sptile verify a.h5 --color always | coloured
CLICOLOR_FORCE=1 sptile verify a.h5 | coloured
CLICOLOR_FORCE=0 sptile verify a.h5 | coloured
CLICOLOR_FORCE=1 NO_COLOR=1 sptile verify a.h5 | coloured
{ sptile info nowhere.h5 --color always 2>&1 || true; } | sed 's/\x1b\[/ESC[/g'
{ sptile info nowhere.h5 2>&1 || true; } | coloured
