// Plays Blooms at random, in Java, with a thread and a resource beside its classes.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

public class JavaBot {
    private static final TreeSet<String> empty = new TreeSet<>();
    private static boolean first = true;
    private static Random random = new Random(1);

    public static void main(String[] words) throws IOException, InterruptedException {
        if (JavaBot.class.getResource("JavaBot.class") == null) throw new IOException("no resource");
        Thread player = new Thread(JavaBot::play);
        player.start();
        player.join();
    }

    private static void play() {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        try {
            for (String line; (line = input.readLine()) != null; ) {
                if (!hear(line.trim().split(" +"))) return;
            }
        } catch (IOException error) {
            throw new RuntimeException(error);
        }
    }

    private static boolean hear(String[] words) {
        switch (words[0]) {
            case "hello" -> say("hello 1");
            case "game" -> first = true;
            case "option" -> {
                if (words[1].equals("size")) fill(Integer.parseInt(words[2]));
            }
            case "prepare" -> say("ready");
            case "news" -> {
                List<String> rest = Arrays.asList(words).subList(Math.min(3, words.length), words.length);
                if (words[1].equals("move")) {
                    first = false;
                    for (String part : rest) empty.remove(part.substring(2));
                } else if (words[1].equals("captured")) {
                    empty.addAll(rest);
                }
            }
            case "ask" -> {
                List<String> free = new ArrayList<>(empty);
                Collections.shuffle(free, random);
                String second = first || free.size() == 1 ? "" : " D:" + free.get(1);
                say("move " + words[1] + " L:" + free.get(0) + second);
            }
            case "quit" -> {
                return false;
            }
            default -> { }
        }
        return true;
    }

    private static void fill(int side) {
        empty.clear();
        for (int row = 0; row < 2 * side - 1; row++) {
            int length = 2 * side - 1 - Math.abs(side - 1 - row);
            for (int i = 1; i <= length; i++) empty.add((char) ('A' + row) + String.valueOf(i));
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
