#!/bin/sh
# A preview script for ranger: GIF and PNG files as pictures, everything else as before.
#
#     set preview_script ~/.config/ranger/zoetrope-scope.sh
#
# With `set preview_images true` the picture is drawn by the plugin beside this file, without it as characters.
# ranger --copy-config=scope makes the script that shows everything else.
file=$1 width=$2 height=$3 images=$5
case $file in
*.gif | *.GIF | *.png | *.PNG | *.apng)
  # 7 means: show the file itself as a picture.
  [ "$images" = True ] && exit 7
  # ranger draws at most 256 colours.
  exec zoetrope still --place "${width}x${height}" --protocol half --colors 256 -- "$file"
  ;;
esac
exec "${XDG_CONFIG_HOME:-$HOME/.config}/ranger/scope.sh" "$@"
