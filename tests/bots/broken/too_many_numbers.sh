#!/bin/sh
# Splits each line in two, so that `move` has all three numbers of `ask`.
while read -r word rest; do
    case $word in
        hello) echo "hello 1" ;;
        prepare) echo ready ;;
        ask) echo "move $rest L:A1" ;;
        quit) exit ;;
    esac
done
