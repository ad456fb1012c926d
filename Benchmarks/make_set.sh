#!/usr/bin/env bash
# make_set.sh DIR: builds the bench set with ffmpeg and gifsicle, some 300 MB in a minute, most of it for scanning, and
# DIR/writers with Pillow, imageio, ImageMagick and apngasm, as far as they are installed. Existing files are kept, so a
# second run starts at once.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
palette="split[a][b];[a]palettegen[p];[b][p]paletteuse"

# film FILE FILTERGRAPH [OPTION...]: writes to a temporary name first, so that an aborted run leaves no partial file.
film() {
  local file=$1 graph=$2
  shift 2
  [ -e "$file" ] && return
  ffmpeg -nostdin -hide_banner -loglevel error -y -f lavfi -i "$graph" "$@" "part.${file##*.}"
  mv "part.${file##*.}" "$file"
}
# apng FILE FILTERGRAPH [OPTION...]
apng() { film "$@" -plays 0 -f apng; }
# shrink FILE FROM OPTION...: writes a file of the set again with gifsicle, smaller
shrink() {
  [ -e "$1" ] && return
  gifsicle "${@:3}" "$2" -o part.gif
  mv part.gif "$1"
}

window="color=c=0x202428:s=1280x720:r=20:d=5[b];life=s=240x160:mold=10:r=20:seed=7:death_color=#405060:life_color=#e0e0e0[w]"
film screencast.gif "$window;[b][w]overlay=500+20*floor(t):300:shortest=0,trim=duration=5"
film flat.gif "testsrc2=s=640x360:r=25:d=4,$palette=dither=none"
film dithered.gif "mandelbrot=s=800x600:r=20,trim=duration=2,$palette"
film noisy.gif "testsrc2=s=480x360:r=20:d=2,noise=alls=60:allf=t:all_seed=3,$palette"
film automaton.gif "life=s=512x512:mold=10:r=30:seed=5:ratio=0.1:death_color=#C83232:life_color=#00ff00,trim=duration=2"
shrink deltas.gif automaton.gif -O3
shrink lossy.gif dithered.gif -O3 --lossy=30
film large.gif "mandelbrot=s=1920x1080:r=20,trim=duration=0.6,$palette=dither=none"
film tiny.gif "testsrc2=s=64x64:r=50:d=20,$palette=dither=none"

apng rgb.png "mandelbrot=s=800x600:r=20,trim=duration=1" -pred mixed
apng rgb_deltas.png "testsrc2=s=640x360:r=25:d=3" -pred mixed
apng partial_alpha.png "testsrc2=s=320x240:r=25:d=4,format=rgba,colorchannelmixer=aa=0.5"
apng palette.png "testsrc2=s=640x360:r=25:d=2,$palette=dither=none" -pix_fmt pal8 -pred none

# The same film repeated, which shows whether memory grows with the number of frames.
[ -e frames_1000.gif ] || gifsicle $(yes flat.gif | head -10) -o frames_1000.gif
[ -e frames_10000.gif ] || gifsicle $(yes frames_1000.gif | head -10) -o frames_10000.gif
apng frames_100.png "testsrc2=s=640x360:r=25:d=4,format=rgba" -pred up
apng frames_1000.png "testsrc2=s=640x360:r=25:d=40,format=rgba" -pred up
[ -e scan_100mb.gif ] || gifsicle $(yes dithered.gif | head -12) -o scan_100mb.gif

# 50 MB, for the first frame of `play`.
[ -e play_50mb.gif ] || gifsicle $(yes dithered.gif | head -6) -o play_50mb.gif
[ -e play_50mb_hd.gif ] || gifsicle $(yes large.gif | head -8) -o play_50mb_hd.gif

# The same films written by other programs: palettes of few colours, interlacing, small frames.
mkdir -p writers
if python3 -c 'import PIL, numpy' 2>/dev/null; then
  python3 "$here/make_writers.py" writers
else
  echo "no Pillow and numpy: the files of other writers are left out" >&2
fi
