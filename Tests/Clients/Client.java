import java.io.FileInputStream;
import java.net.Authenticator;
import java.net.PasswordAuthentication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * One request by Java's HttpClient: java Client.java get URL | put URL FILE | save URL FILE | second URL | socket URL
 *
 * It asks each https server for HTTP/2, which is `second`. `socket` sends a text and a megabyte by WebSocket and wants both
 * back.
 */
public class Client {
  public static void main(String[] words) {
    try {
      System.out.println(new Client().send(words));
    } catch (Exception error) {
      System.out.println(error);
      System.exit(1);
    }
  }

  private String send(String[] words) throws Exception {
    // The proxies are the default selector's, which goes by https.proxyHost and its like.
    HttpClient.Builder builder = HttpClient.newBuilder().sslContext(trusting(System.getenv("CA_FILE")));
    String user = System.getProperty("http.proxyUser");
    if (user != null) {
      builder.authenticator(new Authenticator() {
        @Override
        protected PasswordAuthentication getPasswordAuthentication() {
          return new PasswordAuthentication(user, System.getProperty("http.proxyPassword").toCharArray());
        }
      });
    }
    if (words[0].equals("socket")) {
      return "101 " + (new Echo().isRight(builder.build(), URI.create(words[1])) ? "echoed" : "changed");
    }
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(words[1]));
    if (words[0].equals("put")) {
      request.PUT(HttpRequest.BodyPublishers.ofFile(Path.of(words[2])));
    }
    if (words[0].equals("save")) {
      return "" + builder.build().send(request.build(), HttpResponse.BodyHandlers.ofFile(Path.of(words[2]))).statusCode();
    }
    HttpResponse<String> response = builder.build().send(request.build(), HttpResponse.BodyHandlers.ofString());
    return response.statusCode() + " " + response.body();
  }

  /** What comes back by a WebSocket, whose messages come in parts. */
  private static class Echo implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();
    private final ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
    private final CompletableFuture<Void> all = new CompletableFuture<>();

    boolean isRight(HttpClient client, URI place) throws Exception {
      byte[] large = new byte[1 << 20];
      new Random().nextBytes(large);
      WebSocket socket = client.newWebSocketBuilder().buildAsync(place, this).get();
      socket.sendText("hello", true).get();
      socket.sendBinary(ByteBuffer.wrap(large), true).get();
      all.get(60, TimeUnit.SECONDS);
      socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get();
      return text.toString().equals("hello") && bytes.flip().equals(ByteBuffer.wrap(large));
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean isLast) {
      text.append(part);
      socket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer part, boolean isLast) {
      bytes.put(part);
      if (isLast) {
        all.complete(null);
      }
      socket.request(1);
      return null;
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
      all.completeExceptionally(error);
    }
  }

  private static SSLContext trusting(String file) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    try (FileInputStream input = new FileInputStream(file)) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(input));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
