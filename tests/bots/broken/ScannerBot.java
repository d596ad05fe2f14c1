// Reads word by word, across the ends of lines.
import java.util.*;

class ScannerBot {
    static class Board {
        final Set<String> empty = new TreeSet<>();
        void news(Scanner in) {
            String kind = in.next();
            int seat = in.nextInt();
            take(in.next());
            if (kind.equals("move")) take(in.next());
        }
        void take(String part) {
            if (!empty.remove(part.substring(2))) throw new IllegalStateException("not empty: " + part);
        }
    }
    public static void main(String[] words) {
        Scanner in = new Scanner(System.in);
        Board board = new Board();
        while (in.hasNext()) {
            switch (in.next()) {
                case "hello": in.nextLine(); System.out.println("hello 1"); break;
                case "option":
                    if (in.next().equals("size")) {
                        int side = in.nextInt(), rows = 2 * side - 1;
                        board.empty.clear();
                        for (int r = 0; r < rows; r++)
                            for (int i = 1; i <= rows - Math.abs(side - 1 - r); i++)
                                board.empty.add("" + (char) ('A' + r) + i);
                    }
                    break;
                case "prepare": System.out.println("ready"); break;
                case "news": board.news(in); break;
                case "ask": System.out.println("move " + in.nextInt() + " L:" + board.empty.iterator().next()); break;
                case "quit": return;
            }
        }
    }
}
