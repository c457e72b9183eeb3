import Foundation

/// nginx, serving ``LabSite``.
///
/// What is put under `/sink/` lies in ``uploads`` afterwards, under the same name.
struct NginxSite: WebServer {
  static let name = "nginx"

  /// After so many requests on a connection to ``LabSite/api`` it says GOAWAY and refuses what comes later.
  static let requestsPerConnection = 250

  let process: ServerProcess
  let port: UInt16
  let httpPort: UInt16
  let caFile: String
  let accessLog: URL
  let uploads: URL

  init() async throws {
    let folder = try ServerFixture.newFolder("nginx-site")
    let site = try LabSite(in: folder)
    (port, httpPort) = (try LoopbackPort.free(), try LoopbackPort.free())
    caFile = site.caFile
    accessLog = folder.appending(path: "access.log")
    uploads = folder.appending(path: "sink")
    try FileManager.default.createDirectory(at: uploads, withIntermediateDirectories: true)
    let (port, httpPort) = (port, httpPort)
    let servers = site.hosts.map { host in
      """
        server {
          listen 127.0.0.1:\(httpPort);
          listen [::1]:\(httpPort);
          listen 127.0.0.1:\(port) ssl http2;
          listen [::1]:\(port) ssl http2;
          server_name \(host.name);
          ssl_certificate \(site.certificate(of: host).path);
          ssl_certificate_key \(site.key(of: host).path);
          root \(site.root(of: host).path);
          \(host.name == LabSite.api ? "keepalive_requests \(Self.requestsPerConnection);" : "")
          location = /hook { return 204; }
          location = /moved { return 302 /name; }
          location = /cookies {
            add_header Set-Cookie "a=1; Path=/";
            add_header Set-Cookie "b=2; Path=/";
            return 200 "";
          }
          location = /big { alias \(site.big.path); }
          location /sink/ {
            root \(folder.path);
            client_max_body_size 0;
            dav_methods PUT;
          }
        }
      """
    }
    let configuration = """
      daemon off;
      master_process off;
      pid \(folder.path)/pid;
      error_log stderr;
      events { worker_connections 1024; }
      http {
        log_format lab '\(AccessLogLine.nginxFormat)';
        access_log \(accessLog.path) lab;
        client_body_temp_path \(folder.path)/body;
        proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/fastcgi;
        uwsgi_temp_path \(folder.path)/uwsgi;
        scgi_temp_path \(folder.path)/scgi;
        default_type text/plain;
        sendfile on;
      \(servers.joined(separator: "\n"))
      }
      """
    let file = folder.appending(path: "nginx.conf")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    process = ServerProcess(
      program: try ServerFixture.server("nginx", copiedTo: folder),
      arguments: ["-p", folder.path, "-e", "stderr", "-c", file.path], folder: folder, ports: [port, httpPort])
  }
}
