import java.io.FileInputStream;
import java.net.Authenticator;
import java.net.PasswordAuthentication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** One request by Java's HttpClient: java Client.java get URL | put URL FILE | save URL FILE */
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
