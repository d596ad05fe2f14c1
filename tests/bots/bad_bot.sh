# The decent half of a bad bot of a line or two: `sh -c '. "$0"; …' tests/bad_bot.sh`.
# It plays Blooms along the edge of its own side, until it does its worst.

listen() { # reads on to the line that begins with this word, and says what there is to say meanwhile
    wanted=$1
    while read -r word n rest; do
        case $word in
            hello) echo hello 1 ;;
            game)
                played=0
                case $rest in
                    *\ 1\ *) edge=A ;;
                    *) edge=E ;;
                esac
                ;;
            prepare) echo ready ;;
            quit) exit ;;
        esac
        [ "$word" = "$wanted" ] && return
    done
    exit
}

asked() { # waits for a question; its number is $n, a legal answer $move
    listen ask
    move=L:$edge$((played + 1))
}

answer() {
    played=$((played + 1))
    echo "move $n $move"
}

play() {
    while asked; do answer; done
}
