import Foundation

/// nginx as a site with cookies.
///
/// - `/set`: sets cookies of every kind.
/// - any other path: the request's `Cookie` field as the body.
struct NginxCookies: RealServer {
  static let name = "nginx-cookies"

  /// The programs that tests with it need and this machine lacks.
  static let missing = ["nginx", "openssl", "curl", "wget"].filter { ServerFixture.path(of: $0) == nil }

  let process: ServerProcess
  let port: UInt16
  /// The same by plain HTTP, also as a proxy for itself: wget has no other way to be told an address.
  let httpPort: UInt16
  let caFile: String

  init() async throws {
    let certificate = try await LabCertificate.shared
    let folder = try ServerFixture.newFolder(Self.name)
    port = try LoopbackPort.free()
    httpPort = try LoopbackPort.free()
    caFile = certificate.caFile
    let configuration = """
      daemon off;
      master_process off;
      pid \(folder.path)/pid;
      error_log stderr;
      events { worker_connections 64; }
      http {
        access_log off;
        client_body_temp_path \(folder.path)/body;
        proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/fastcgi;
        uwsgi_temp_path \(folder.path)/uwsgi;
        scgi_temp_path \(folder.path)/scgi;
        ssl_certificate \(certificate.chainFile);
        ssl_certificate_key \(certificate.keyFile);
        default_type text/plain;
        server {
          listen 127.0.0.1:\(httpPort);
          listen 127.0.0.1:\(port) ssl http2;
          location = /set {
            add_header Set-Cookie "host=1";
            add_header Set-Cookie "domain=2; Domain=lab.test; Path=/";
            add_header Set-Cookie "path=3; Path=/shop";
            add_header Set-Cookie "age=4; Max-Age=3600; HttpOnly; SameSite=Lax";
            add_header Set-Cookie "empty=";
            return 200 "";
          }
          location / { return 200 "$http_cookie"; }
        }
      }
      """
    let file = folder.appending(path: "nginx.conf")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    process = ServerProcess(
      program: try ServerFixture.server("nginx", copiedTo: folder),
      arguments: ["-p", folder.path, "-e", "stderr", "-c", file.path], folder: folder, ports: [port, httpPort])
  }
}
