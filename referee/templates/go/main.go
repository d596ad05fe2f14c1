// @NAME@: a bot for the referee, in Go. Your own idea goes into `choose`; the rest is the protocol.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
)

// most is how many legal moves to ask for; if there are more, a random sample comes (up to 2000).
const most = 200

// Game is the game as the bot knows it; each game has a new one, so nothing of the last one is left.
type Game struct {
	slug        string            // which game it is
	seat, seats int               // this bot's seat, from 1 to seats
	options     map[string]string // such as "size": "4"
	news        [][]string        // all news of this game, oldest first, split into words
	random      *rand.Rand        // seeded by the referee: the same seed gives the same game again
	question    int               // the number of the open question
	allowanceMs int               // what remains of the time for this move
	reserveMs   int               // and for the whole game
	rejected    string            // why the last answer was rejected; empty if it was not
}

// start prepares for a game; its clock does not run yet.
func (game *Game) start() {
}

// hear follows a line of news, such as "move", "1", "L:D4", "D:D6" in Blooms: update your position here.
// The news is explained by @DOCS@. It includes the bot's own moves, and the first question may
// come in the middle of a game, so rely on the news alone.
func (game *Game) hear(words []string) {
}

// choose returns the move to make. Your idea: take the best of these moves instead. The line
// "info value 0.62 depth 4" has your chance to win drawn in replays.
func (game *Game) choose(moves []string) string {
	if game.rejected != "" { // stderr does no harm, and the referee shows it if the game is lost
		fmt.Fprintln(os.Stderr, "rejected:", game.rejected)
	}
	return moves[game.random.Intn(len(moves))]
}

// cut returns the first word of a text and the rest.
func cut(text string) (string, string) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	return word, strings.TrimSpace(rest)
}

// number returns the number at a place among the words; 0 where there is none.
func number(words []string, place int) int {
	if place >= len(words) {
		return 0
	}
	value, _ := strconv.Atoi(words[place])
	return value
}

func main() {
	game := &Game{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, rest := cut(lines.Text())
		words := strings.Fields(rest)
		switch word {
		case "hello":
			fmt.Println("hello 1")
		case "game":
			game = &Game{seat: number(words, 2), seats: number(words, 3), options: map[string]string{}}
			game.slug, _ = cut(rest)
		case "option":
			name, value := cut(rest)
			game.options[name] = value
		case "seed":
			game.random = rand.New(rand.NewSource(int64(number(words, 0))))
		case "prepare":
			game.start()
			fmt.Println("ready")
		case "news":
			game.news = append(game.news, words)
			game.hear(words)
		case "rejected": // the same question follows, with the next number
			game.rejected = rest
		case "ask":
			game.question, game.allowanceMs, game.reserveMs = number(words, 0), number(words, 1), number(words, 2)
			fmt.Println("list", game.question, most)
		case "legal":
			var moves []string
			for count := number(words, 2); count > 0 && lines.Scan(); count-- {
				_, move := cut(lines.Text()) // choice MOVE
				moves = append(moves, move)
			}
			if len(moves) == 0 {
				return // the input has ended
			}
			fmt.Println("move", game.question, game.choose(moves)) // Println does not buffer
			game.rejected = ""
		case "quit":
			return
		} // unknown words are ignored
	}
}
