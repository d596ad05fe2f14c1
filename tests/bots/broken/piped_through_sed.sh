#!/bin/sh
# Filters its output with `sed`, which buffers it.
{
    while read -r word number _; do
        case $word in
            hello) echo "hello 1" ;;
            prepare) echo ready ;;
            ask) echo "move $number l:a1" ;;
            quit) exit ;;
        esac
    done
} | sed 's/l:a/L:A/'
