#!/usr/bin/env bash
# shell_files.sh PROGRAM FOLDER: writes the manual page and the completions for bash, zsh and fish, from the commands'
# --help.
# shellcheck disable=SC2016  # bash, zsh and fish expand what is written here
set -euo pipefail
program=$1 folder=$2
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One line per command: name, tab, description.
"$program" --help >"$work/help"
awk '/^Subcommands:/ { on = 1; next } /^$/ { on = 0 } on { name = $1; $1 = ""; print name "\t" substr($0, 2) }' "$work/help" >"$work/commands"
[ -s "$work/commands" ] || { echo "$program --help lists no commands" >&2; exit 1; }

# `convlab class` exits with status 3 if it was not built: then the command is listed without options.
help_of() { "$program" "$1" --help >"$work/help.$1" 2>"$work/error" || [ $? = 3 ] || { cat "$work/error" >&2; exit 1; }; }

# One line per option: command, option, argument, description. Descriptions may begin on the next line of --help.
while IFS=$'\t' read -r command _; do
  help_of "$command"
  awk -v command="$command" '
    function give() { if (option != "") print command "\t" option "\t" argument "\t" text; option = "" }
    /^[A-Z][A-Za-z ]*:$/ { on = !/^(Examples|Positionals|Subcommands)/; next }
    /^$/ { give(); on = 0 }
    !on { next }
    /^  -/ {
      give()
      line = substr($0, 3)
      text = ""
      if (match(line, /  +/)) { text = substr(line, RSTART + RLENGTH); line = substr(line, 1, RSTART - 1) }
      else if (length($0) > 30 && substr($0, 30, 1) == " ") { text = substr(line, 29); line = substr(line, 1, 27) }
      match(line, /--[a-z0-9-]+/)
      option = substr(line, RSTART, RLENGTH)
      argument = substr(line, RSTART + RLENGTH + 1)
      next
    }
    text !~ /:$/ { text = text (text == "" ? "" : " ") substr($0, 31) }  # a list may follow a colon
    END { give() }' "$work/help.$command"
done <"$work/commands" >"$work/options"

# Returns the choices of an option's argument, separated by blanks: "fp32|tf32" -> "fp32 tf32", "FILE" -> "".
choices='function choices(argument) {
  if (argument !~ /^[a-z0-9.-]+(\|[a-z0-9.-]+)+$/) return ""
  gsub(/\|/, " ", argument)
  return argument
}'

{
  echo '# bash completion of convlab, made from its --help.'
  echo '_convlab() {'
  echo '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words='
  printf '  if [ "$COMP_CWORD" = 1 ]; then\n    words="%s --help --version"\n' "$(cut -f1 "$work/commands" | paste -sd' ')"
  echo '  else'
  echo '    case "${COMP_WORDS[1]} $before" in'
  awk -F'\t' "$choices"' choices($3) != "" { printf "      \"%s %s\") words=\"%s\" ;;\n", $1, $2, choices($3) }' "$work/options"
  echo '    esac'
  echo '    if [ -z "$words" ] && [[ $word == -* ]]; then'
  echo '      case "${COMP_WORDS[1]}" in'
  awk -F'\t' '{ of[$1] = of[$1] " " $2 } END { for (name in of) printf "        %s) words=\"%s\" ;;\n", name, substr(of[name], 2) }' "$work/options" | sort
  echo '      esac'
  echo '    fi'
  echo '  fi'
  echo '  COMPREPLY=()'
  echo '  [ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")'
  echo '}'
  echo 'complete -o default -F _convlab convlab'
} >"$folder/convlab.bash"

zsh_text='function zsh(text) { gsub(/\\/, "", text); gsub(/\047/, "\047\\\047\047", text); gsub(/\[/, "\\[", text); gsub(/\]/, "\\]", text); gsub(/:/, "\\:", text); return text }'
{
  echo '#compdef convlab'
  echo '# zsh completion of convlab, made from its --help.'
  echo 'local -a commands=('
  awk -F'\t' "$zsh_text"' { printf "  \047%s:%s\047\n", $1, zsh($2) }' "$work/commands"
  echo ')'
  echo 'if (( CURRENT == 2 )); then'
  echo '  _describe command commands'
  echo '  return'
  echo 'fi'
  echo 'case $words[2] in'
  awk -F'\t' "$choices $zsh_text"'
    $1 != last { if (last != "") print "    \047*:file:_files\047 ;;"; printf "  %s) _arguments \\\n", $1; last = $1 }
    {
      takes = $3 == "" ? "" : choices($3) != "" ? ":value:(" choices($3) ")" : ":file:_files"
      printf "    \047*%s[%s]%s\047 \\\n", $2, zsh($4), takes
    }
    END { print "    \047*:file:_files\047 ;;" }' "$work/options"
  echo 'esac'
} >"$folder/_convlab"

fish_text='function fish(text) { gsub(/\\/, "\\\\", text); gsub(/\047/, "\\\047", text); return "\047" text "\047" }'
{
  echo '# fish completion of convlab, made from its --help.'
  awk -F'\t' "$fish_text"' { printf "complete -c convlab -n __fish_use_subcommand -a %s -d %s\n", $1, fish($2) }' "$work/commands"
  awk -F'\t' "$choices $fish_text"' {
      takes = $3 == "" ? "" : choices($3) != "" ? " -x -a " fish(choices($3)) : " -r"
      printf "complete -c convlab -n \047__fish_seen_subcommand_from %s\047 -l %s%s -d %s\n", $1, substr($2, 3), takes, fish($4)
    }' "$work/options"
} >"$folder/convlab.fish"

# Escape what roff interprets: backslashes, and dots and quotes at the beginning of a line.
roff() { sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\&&/" -e 's/-/\\-/g'; }
{
  echo ".TH CONVLAB 1 \"\" \"$("$program" --version)\""
  echo '.SH NAME'
  printf 'convlab \\- %s\n' "$(head -n 1 "$work/help" | roff)"
  echo '.SH SYNOPSIS'
  echo '.B convlab'
  echo '.I COMMAND'
  printf '%s\n' '[\fIOPTIONS\fR]'
  echo '.SH COMMANDS'
  while IFS=$'\t' read -r command text; do
    printf '.SS convlab %s\n%s.\n.PP\n.nf\n' "$(roff <<<"$command")" "$(roff <<<"$text")"
    sed 1d "$work/help.$command" | roff
    echo '.fi'
  done <"$work/commands"
  echo '.SH EXIT STATUS'
  echo '0: success. 1: a result is wrong. 2: bad usage or bad input. 3: the requested device, kernel or library is not available.'
} >"$folder/convlab.1"
