#!/usr/bin/env bash
# make_play_set.sh DIR: builds three GIFs of 640x360 whose frames last 20 ms, with ffmpeg, in seconds: a flat test card,
# a dithered film, and a recording of a screen on which one window moves.
set -euo pipefail
mkdir -p "$1"
cd "$1"
palette="split[a][b];[a]palettegen[p];[b][p]paletteuse"

# film FILE FILTERGRAPH: writes to a temporary name first, so that an aborted run leaves no partial file.
film() {
  [ -e "$1" ] && return
  ffmpeg -nostdin -hide_banner -loglevel error -y -f lavfi -i "$2" part.gif
  mv part.gif "$1"
}

window="color=c=0x202428:s=640x360:r=50:d=4[b];life=s=160x120:mold=10:r=50:seed=7:death_color=#405060:life_color=#e0e0e0[w]"
film card.gif "testsrc2=s=640x360:r=50:d=2,$palette=dither=none"
film film.gif "mandelbrot=s=640x360:r=50,trim=duration=2,$palette"
film screen.gif "$window;[b][w]overlay=240+8*floor(t):120:shortest=0,trim=duration=2"
