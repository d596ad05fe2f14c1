// @NAME@: a bot for the referee, in Java. Your own idea goes into `choose`; the rest is the protocol.

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Plays games until the referee says `quit`. */
final class Main {
    /** How many legal moves to ask for; if there are more, a random sample comes (up to 2000). */
    private static final String MOST = "200";

    /** The game as the bot knows it; each game has a new one, so nothing of the last one is left. */
    private static final class Game {
        /** Which game it is. */
        final String slug;
        /** This bot's seat, from 1 to `seats`. */
        final int seat;
        final int seats;
        final Map<String, String> options = new HashMap<>();
        /** All news of this game, oldest first, each line split into words. */
        final List<String[]> news = new ArrayList<>();
        /** Seeded by the referee: the same seed gives the same game again. */
        Random random = new Random(0);
        /** The number of the open question. */
        String question;
        /** What remains of the time for this move, and for the whole game. */
        long allowanceMs;
        long reserveMs;
        /** Why the last answer was rejected, or null. */
        String rejected;

        Game(String slug, int seat, int seats) {
            this.slug = slug;
            this.seat = seat;
            this.seats = seats;
        }

        /** Prepares for the game; its clock does not run yet. */
        void start() {
        }

        /**
         * Follows a line of news, such as "move", "1", "L:D4", "D:D6" in Blooms: update your position here.
         * The news is explained by @DOCS@. It includes the bot's own moves, and the first
         * question may come in the middle of a game, so rely on the news alone.
         */
        void hear(String[] words) {
        }

        /**
         * The move to make. Your idea: take the best of these moves instead. The line
         * "info value 0.62 depth 4" has your chance to win drawn in replays.
         */
        String choose(List<String> moves) {
            if (rejected != null) { // stderr does no harm, and the referee shows it if the game is lost
                System.err.println("rejected: " + rejected);
            }
            return moves.get(random.nextInt(moves.size()));
        }
    }

    private static final BufferedReader IN =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private static final PrintStream OUT = // flushes after every line
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private Main() {
    }

    /** The first word of a text and the rest. */
    private static String[] cut(String text) {
        String[] parts = text.strip().split("[ \t]+", 2);
        return new String[] {parts[0], parts.length > 1 ? parts[1] : ""};
    }

    private static void say(String... words) {
        OUT.println(String.join(" ", words)); // the first `+` of texts would take Java a hundredth of a second
    }

    public static void main(String[] args) throws IOException {
        Game game = new Game("", 0, 0);
        for (String line = IN.readLine(); line != null; line = IN.readLine()) {
            String word = cut(line)[0];
            String rest = cut(line)[1];
            String[] words = rest.split("[ \t]+");
            switch (word) {
                case "hello":
                    say("hello 1");
                    break;
                case "game":
                    game = new Game(words[0], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                    break;
                case "option":
                    game.options.put(words[0], cut(rest)[1]);
                    break;
                case "seed":
                    game.random = new Random(Long.parseLong(words[0]));
                    break;
                case "prepare":
                    game.start();
                    say("ready");
                    break;
                case "news":
                    game.news.add(words);
                    game.hear(words);
                    break;
                case "rejected": // the same question follows, with the next number
                    game.rejected = rest;
                    break;
                case "ask":
                    game.question = words[0];
                    game.allowanceMs = Long.parseLong(words[1]);
                    game.reserveMs = Long.parseLong(words[2]);
                    say("list", game.question, MOST);
                    break;
                case "legal":
                    List<String> moves = new ArrayList<>();
                    for (int count = Integer.parseInt(words[2]); count > 0; count--) {
                        String choice = IN.readLine();
                        if (choice == null) {
                            return;
                        }
                        moves.add(cut(choice)[1]); // choice MOVE
                    }
                    say("move", game.question, game.choose(moves));
                    game.rejected = null;
                    break;
                case "quit":
                    return;
                default: // unknown words are ignored
            }
        }
    }
}
