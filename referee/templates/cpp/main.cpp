// @NAME@: a bot for the referee, in C++. Your own idea goes into `choose`; the rest is the protocol.

#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

constexpr int most = 200;  // legal moves to ask for; if there are more, a random sample (up to 2000)

struct Game {
    std::string slug;  // which game it is
    int seat = 0;      // this bot's seat, from 1 to `seats`
    int seats = 0;
    std::map<std::string, std::string> options;
    std::vector<Words> news;         // all news of this game, oldest first
    std::mt19937_64 random;          // seeded by the referee: the same seed gives the same game again
    unsigned question = 0;           // the number of the open question
    long allowance_ms = 0;           // what remains of the time for this move
    long reserve_ms = 0;             // and for the whole game
    std::string rejected;            // why the last answer was rejected; empty if it was not
};

// Prepares for a game; its clock does not run yet. The same process plays several games: forget the last
// one here.
void start([[maybe_unused]] Game& game) {
}

// Follows a line of news, such as {"move", "1", "L:D4", "D:D6"} in Blooms: update your position here.
// The news is explained by @DOCS@. It includes the bot's own moves, and the first question may
// come in the middle of a game, so rely on the news alone.
void hear([[maybe_unused]] Game& game, [[maybe_unused]] const Words& words) {
}

// The move to make. Your idea: take the best of these moves instead. The line "info value 0.62 depth 4"
// has your chance to win drawn in replays.
std::string choose(Game& game, const std::vector<std::string>& moves) {
    if (!game.rejected.empty())  // stderr does no harm, and the referee shows it if the game is lost
        std::cerr << "rejected: " << game.rejected << std::endl;
    return moves[game.random() % moves.size()];
}

Words split(const std::string& text) {
    std::istringstream in(text);
    Words words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

// The first word of a text; what is left of the text is the rest.
std::string cut(std::string& text) {
    std::istringstream in(text);
    std::string word, rest;
    in >> word >> std::ws;
    std::getline(in, rest);
    text = rest;
    return word;
}

bool receive(std::string& line) {
    if (!std::getline(std::cin, line))
        return false;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.pop_back();
    return true;
}

void say(const std::string& line) {
    std::cout << line << std::endl;  // the flush is needed: stdout is a pipe
}

}  // namespace

int main() {
    Game game;
    std::string rest;  // of the line, behind its first word
    while (receive(rest)) {
        const std::string word = cut(rest);
        std::istringstream in(rest);
        if (word == "hello") {
            say("hello 1");
        } else if (word == "game") {
            int rules = 0;
            game = Game();
            in >> game.slug >> rules >> game.seat >> game.seats;
        } else if (word == "option") {
            const std::string name = cut(rest);
            game.options[name] = rest;
        } else if (word == "seed") {
            std::uint64_t seed = 0;
            in >> seed;
            game.random.seed(seed);
        } else if (word == "prepare") {
            start(game);
            say("ready");
        } else if (word == "news") {
            game.news.push_back(split(rest));
            hear(game, game.news.back());
        } else if (word == "rejected") {  // the same question follows, with the next number
            game.rejected = rest;
        } else if (word == "ask") {
            in >> game.question >> game.allowance_ms >> game.reserve_ms;
            say("list " + std::to_string(game.question) + " " + std::to_string(most));
        } else if (word == "legal") {
            std::string number, kind, line;
            std::size_t count = 0;
            in >> number >> kind >> count;
            std::vector<std::string> moves;
            while (moves.size() < count && receive(line)) {
                cut(line);  // "choice"
                moves.push_back(line);
            }
            if (moves.empty())
                break;  // the input has ended
            say("move " + std::to_string(game.question) + " " + choose(game, moves));
            game.rejected.clear();
        } else if (word == "quit") {
            break;
        }  // unknown words are ignored
    }
}
