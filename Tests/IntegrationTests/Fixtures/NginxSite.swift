// SPDX-License-Identifier: Apache-2.0
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
  let site: LabSite

  init() async throws {
    let nginx = try Nginx("nginx-site")
    let folder = nginx.folder
    let site = try LabSite(in: folder)
    self.site = site
    (port, httpPort, caFile) = (nginx.port, nginx.httpPort, site.caFile)
    accessLog = folder.appending(path: "access.log")
    uploads = folder.appending(path: "sink")
    try FileManager.default.createDirectory(at: uploads, withIntermediateDirectories: true)
    let servers = site.hosts.map { host in
      """
        server {
          \(nginx.listens)
          listen [::1]:\(nginx.httpPort);
          listen [::1]:\(nginx.port) ssl http2;
          server_name \(host.name);
          ssl_certificate \(site.certificate(of: host).path);
          ssl_certificate_key \(site.key(of: host).path);
          root \(site.root(of: host).path);
          \(host.name == LabSite.api ? "keepalive_requests \(Self.requestsPerConnection);" : "")
          location = /hook { return 204; }
          location = /moved { return 302 /name; }
          location = /early { return 200 early; }
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
    process = try nginx.process(
      """
        log_format lab '\(AccessLogLine.nginxFormat)';
        access_log \(accessLog.path) lab;
        default_type text/plain;
        sendfile on;
      \(servers.joined(separator: "\n"))
      """)
  }
}
