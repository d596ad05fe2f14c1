#!/bin/sh
# Copies all three numbers of `ask` into `move`.
while read -r word rest; do
    case $word in
        hello) echo "hello 1" ;;
        prepare) echo ready ;;
        ask) echo "move $rest L:A1" ;;
        quit) exit ;;
    esac
done
