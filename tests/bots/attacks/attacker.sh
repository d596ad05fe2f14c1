# An attacker for sh: `sh attacker.sh ATTACK[,ATTACK ...] GAME`. See `__init__.py` of this folder.
attacks=$1 game=$2 games=0 asks=0 tried=

did() { echo "ATTACK did" >&2; }
judge() { if [ "$1" = 0 ]; then did; else echo "ATTACK failed status $1" >&2; fi; }
secrets() { tr '\0' '\n' | grep -a -o '[A-Z]*-SECRET-[0-9a-f]*' | sort -u | sed 's/^/ATTACK read /' >&2; }

attack() {
    echo "ATTACK tries $1" >&2
    case $1 in
        command-line) secrets <"/proc/$VICTIM/cmdline" ;;
        tournament-read) secrets <"$TOURNAMENT" ;;
        own-environment) env | secrets ;;
        questions-read) (timeout 2 cat "/proc/$VICTIM/fd/0" | sed 's/^/ATTACK read /' >&2) & sleep 0.3 ;;
        move-forged) echo 'resign 2' >"/proc/$VICTIM/fd/1" ;;
        quit-forged) echo quit >"/proc/$VICTIM/fd/0" ;;
        kill) kill -9 "$VICTIM" ;;
        kill-group) kill -9 "-$VICTIM" ;;
        kill-all) [ "$(id -u)" = "$THROW_AWAY" ] && grep -q 'CapEff:.0*$' /proc/self/status && kill -9 -1 ;;
        kill-worker) kill -9 "$WORKER" ;;
        kill-launcher) kill -9 "$LAUNCHER" ;;
        kill-warden) kill -9 "$VICTIM_WARDEN" ;;
        kill-own-warden) kill -9 "$WARDEN" ;;
        stop-launcher) kill -STOP "$LAUNCHER" ;;
        oom-score) echo 999 >"/proc/$VICTIM/oom_score_adj" ;;
        program-fifo) rm attacker.sh && mkfifo attacker.sh && exit ;;
        results-append) echo '{"kind":"game"}' >>"$RESULTS/games.jsonl" ;;
        results-empty) : >"$RESULTS/games.jsonl" ;;
        results-replace) cp "$RESULTS/games.jsonl" "$RESULTS/copy" && mv "$RESULTS/copy" "$RESULTS/games.jsonl" ;;
        results-remove) rm -r "$RESULTS" ;;
        results-lock) rm "$RESULTS"/*lock* ;;
        results-fifo) rm -f "$RESULTS/dialogues.jsonl" && mkfifo "$RESULTS/dialogues.jsonl" ;;
        tmp-file) echo "$TOKEN" >"/tmp/$TOKEN" ;;
        shared-memory-file) echo "$TOKEN" >"/dev/shm/$TOKEN" ;;
        own-folder) echo "$TOKEN" >"$ATTACKER_FOLDER/$TOKEN" ;;
        home-read) secrets <"$HOME_OF_USER/.ssh/id_test" ;;
        home-write) echo "# $TOKEN" >>"$HOME_OF_USER/.profile" ;;
        terminal-escapes)
            printf 'ATTACK \033]0;%s\007\033[31m\n' "$TOKEN" >&2
            printf 'info \033]0;%s\007\nlog \033[2J%s\nnoise \033]52;c;%s\007\n' "$TOKEN" "$TOKEN" "$TOKEN" ;;
        terminal-own) printf '\033]0;%s\007' "$TOKEN" >/dev/tty ;;
        terminal-path) printf '\033]0;%s\007' "$TOKEN" >"$TERMINAL" ;;
        *) false ;;
    esac 2>&3
    judge $?
}

exec 3>&2
while read -r word n rest; do
    case $word in
        hello) echo hello 1 ;;
        game) games=$((games + 1)) asks=0 ;;
        prepare)
            if [ $games = "$game" ]; then
                until grep -q '^END=' targets 2>/dev/null; do sleep 0.05; done
                while IFS='=' read -r key value; do export "$key=$value"; done <targets
            fi
            echo ready ;;
        ask)
            asks=$((asks + 1))
            if [ $games = "$game" ] && [ -z "$tried" ]; then
                tried=yes
                [ "$game" = 1 ] || sleep 0.5
                for each in $(echo "$attacks" | tr , ' '); do attack "$each"; done
            fi
            if [ $asks = 4 ]; then echo "resign $n"; else echo "list $n 1"; asked=$n; fi ;;
        choice) echo "move $asked $n $rest" ;;
        quit) exit ;;
    esac
done
