// Writes with a PrintWriter, which it never flushes.
import java.io.*;

class PrintWriterBot {
    public static void main(String[] words) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintWriter out = new PrintWriter(System.out);
        String line;
        while ((line = in.readLine()) != null) {
            if (line.startsWith("hello ")) out.println("hello 1");
            else if (line.equals("prepare")) out.println("ready");
            else if (line.startsWith("ask ")) out.println("move " + line.split(" ")[1] + " L:A1");
            else if (line.equals("quit")) break;
        }
    }
}
