import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An attacker in Java: `java -cp FOLDER Attacker ATTACK[,ATTACK ...] GAME`. See `__init__.py` of this folder. */
public final class Attacker {
    private static final Map<String, String> T = new HashMap<>();

    private static void attack(String name) throws Exception {
        switch (name) {
            case "environment" -> {
                byte[] bytes = Files.readAllBytes(Path.of("/proc", T.get("VICTIM"), "environ"));
                String text = new String(bytes, StandardCharsets.ISO_8859_1);
                Matcher found = Pattern.compile("[A-Z]+-SECRET-[0-9a-f]+").matcher(text);
                while (found.find()) System.err.println("ATTACK read " + found.group());
            }
            case "kill-handle" -> {
                if (!ProcessHandle.of(Long.parseLong(T.get("VICTIM"))).orElseThrow().destroyForcibly())
                    throw new IOException("not destroyed");
            }
            case "tcp-listen" -> {
                int port = Integer.parseInt(T.get("FREE_PORT"));
                ServerSocket server = new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
                server.setSoTimeout(1000);
                server.accept().getOutputStream().write((T.get("TOKEN") + "\n").getBytes());
            }
            default -> throw new IllegalArgumentException(name);
        }
    }

    private static void tryTo(String name) {
        System.err.println("ATTACK tries " + name);
        try {
            attack(name);
            System.err.println("ATTACK did");
        } catch (Exception error) {
            System.err.println("ATTACK failed " + error);
        }
    }

    private static void readTargets() throws Exception {
        while (true) {
            Path path = Path.of("targets");
            if (Files.exists(path)) {
                String text = Files.readString(path);
                if (text.contains("END=")) {
                    for (String line : text.split("\n")) {
                        int at = line.indexOf('=');
                        T.put(line.substring(0, at), line.substring(at + 1));
                    }
                    return;
                }
            }
            Thread.sleep(50);
        }
    }

    public static void main(String[] args) throws Exception {
        int game = Integer.parseInt(args[1]);
        int games = 0;
        int asks = 0;
        boolean tried = false;
        String asked = "";
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.trim().split("\\s+", 2);
            String rest = words.length > 1 ? words[1] : "";
            switch (words[0]) {
                case "hello" -> System.out.println("hello 1");
                case "game" -> { games++; asks = 0; }
                case "prepare" -> { if (games == game) readTargets(); System.out.println("ready"); }
                case "ask" -> {
                    if (games == game && !tried) {
                        tried = true;
                        for (String name : args[0].split(",")) tryTo(name);
                    }
                    asked = rest.split(" ")[0];
                    System.out.println(++asks == 4 ? "resign " + asked : "list " + asked + " 1");
                }
                case "choice" -> System.out.println("move " + asked + " " + rest);
                case "quit" -> System.exit(0);
                default -> { }
            }
        }
    }
}
