import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;

/** Fetches args[0] into the file args[1] as most programs do: with the proxy that the system properties name. */
public class Fetch {
    public static void main(String[] args) throws Exception {
        var client = HttpClient.newBuilder().build();
        var answer = client.send(HttpRequest.newBuilder(URI.create(args[0])).build(), BodyHandlers.ofByteArray());
        if (answer.statusCode() != 200) throw new Exception("status " + answer.statusCode());
        Files.write(Path.of(args[1]), answer.body());
    }
}
