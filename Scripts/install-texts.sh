#!/usr/bin/env bash
# install-texts.sh ZOETROPE SHARE: copies the manual pages and writes the completions of three shells to the directories
# below SHARE in which man and the shells look for them.
set -euo pipefail
zoetrope=$1 share=$2
cd "$(dirname "$0")/.."

install -d "$share/man/man1"
install -m 644 Manual/*.1 "$share/man/man1/"

complete() { # SHELL FILE
  install -d "$(dirname "$share/$2")"
  "$zoetrope" --generate-completion-script "$1" >"$share/$2.new"
  mv -f "$share/$2.new" "$share/$2"
}
complete bash bash-completion/completions/zoetrope
complete zsh zsh/site-functions/_zoetrope
complete fish fish/vendor_completions.d/zoetrope.fish
