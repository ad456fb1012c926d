#!/usr/bin/env bash
# record-player.sh ZOETROPE OUTPUT.gif: plays a fixture in kitty, under Xvfb, types keys as a person would, and records
# the screen as a GIF for README. Needs Xvfb, kitty, xdotool, ffmpeg and gifsicle.
set -euo pipefail
zoetrope=$(realpath "$1") output=$(realpath -m "$2")
cd "$(dirname "$0")/.."
for program in Xvfb kitty xdotool ffmpeg gifsicle; do
  command -v $program >/dev/null || { echo "$program is missing" >&2; exit 1; }
done

width=560 height=400 rate=10
work=$(mktemp -d "${TMPDIR:-/tmp}/zoetrope-record.XXXXXX")
started=()
finish() {
  for process in "${started[@]}"; do kill "$process" 2>/dev/null || :; done
  rm -rf "$work"
}
trap finish EXIT

# The display's number is the first that Xvfb finds free.
Xvfb -displayfd 3 -screen 0 ${width}x${height}x24 -nolisten tcp 3>"$work/display" 2>/dev/null &
started+=($!)
for _ in $(seq 100); do [ -s "$work/display" ] && break; sleep 0.1; done
DISPLAY=:$(cat "$work/display")
export DISPLAY LIBGL_ALWAYS_SOFTWARE=1 HOME=$work XDG_CONFIG_HOME=$work XDG_CACHE_HOME=$work

mkdir "$work/bin" "$work/fixtures"
ln -s "$zoetrope" "$work/bin/zoetrope"
cp Fixtures/Demo/*.gif Fixtures/Demo/*.png "$work/fixtures/"
cat >"$work/kitty.conf" <<CONF
font_size 11
remember_window_size no
initial_window_width $width
initial_window_height $height
window_padding_width 0
cursor_blink_interval 0
background #1b1e28
enable_audio_bell no
update_check_interval 0
CONF
cat >"$work/rc" <<RC
PATH="$work/bin:$PATH"
PS1='\$ '
cd "$work/fixtures"
RC
kitty --config "$work/kitty.conf" bash --noprofile --rcfile "$work/rc" -i >"$work/kitty.log" 2>&1 &
started+=($!)
window=$(timeout 30 xdotool search --sync --onlyvisible --class kitty | head -n 1)
xdotool windowmove "$window" 0 0 windowsize "$window" $width $height windowfocus "$window"
sleep 2

say() { xdotool type --delay 60 "$1"; }
press() { for key in "$@"; do xdotool key "$key"; sleep 0.35; done; }

ffmpeg -nostdin -v error -f x11grab -draw_mouse 0 -framerate $rate -video_size ${width}x${height} \
  -i "$DISPLAY" -t 16 -c:v ffv1 "$work/film.mkv" &
recorder=$!
started+=($recorder)
sleep 0.5
say 'zoetrope play bouncing-ball.gif spinner.png --loops inf'
press Return
sleep 2.5
press space period period period # pause, one frame forward at a time
sleep 0.4
press d space                    # what each frame changes
sleep 1.5
press d t                        # delays as bars
sleep 1.5
press t r                        # backwards
sleep 1.2
press n                          # the next file
sleep 2
press q
wait $recorder

# One palette for all frames and no dithering, so that frames differ only where the screen changed.
ffmpeg -nostdin -v error -i "$work/film.mkv" -vf \
  'split[a][b];[a]palettegen=max_colors=64:stats_mode=full[p];[b][p]paletteuse=dither=none' \
  -y "$work/film.gif"
gifsicle -O3 --lossy=20 "$work/film.gif" -o "$work/small.gif" 2>/dev/null
"$zoetrope" check "$work/small.gif"
mkdir -p "$(dirname "$output")"
cp "$work/small.gif" "$output"
ls -l "$output"
