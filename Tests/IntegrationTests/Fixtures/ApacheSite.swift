// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Apache's httpd, serving ``LabSite``.
///
/// What is put under `/sink/` is answered with its SHA-256, in hexadecimal digits, and kept nowhere.
struct ApacheSite: WebServer {
  static let name = "apache"

  /// The program's name, which is Debian's or everybody else's.
  static let program = ["apache2", "httpd"].first { ServerFixture.path(of: $0) != nil }

  /// Where the modules lie, if they are installed.
  static let modules = [
    "/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/opt/homebrew/lib/httpd/modules",
    "/usr/local/lib/httpd/modules",
  ]
  .first { FileManager.default.fileExists(atPath: "\($0)/mod_http2.so") }

  let process: ServerProcess
  let port: UInt16
  let httpPort: UInt16
  let caFile: String
  let accessLog: URL

  init() async throws {
    guard let program = Self.program, let modules = Self.modules else {
      throw ServerFixture.Failure("apache2 is not installed")
    }
    let folder = try ServerFixture.newFolder("apache-site")
    let site = try LabSite(in: folder)
    (port, httpPort) = (try LoopbackPort.free(), try LoopbackPort.free())
    caFile = site.caFile
    accessLog = folder.appending(path: "access.log")
    let sink = folder.appending(path: "sink")
    try Self.script.write(to: sink, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: sink.path)
    let (port, httpPort) = (port, httpPort)
    let servers = site.hosts.map { host in
      let content = """
          ServerName \(host.name)
          DocumentRoot "\(site.root(of: host).path)"
          Redirect 302 /moved /name
          Alias /cookies "\(site.root(of: host).path)/name"
          Alias /big "\(site.big.path)"
          ScriptAlias /sink "\(sink.path)"
        """
      return """
        <VirtualHost *:\(httpPort)>
        \(content)
        </VirtualHost>
        <VirtualHost *:\(port)>
        \(content)
          SSLEngine on
          SSLCertificateFile "\(site.certificate(of: host).path)"
          SSLCertificateKeyFile "\(site.key(of: host).path)"
        </VirtualHost>
        """
    }
    // What is not among the modules is built in. As root it insists on becoming somebody else.
    let configuration = """
      ServerRoot "\(folder.path)"
      ServerName lab.test
      PidFile "\(folder.path)/pid"
      DefaultRuntimeDir "\(folder.path)"
      \(Self.needed.map { "\(modules)/mod_\($0).so" }.filter(FileManager.default.fileExists(atPath:)).map {
        "LoadModule \($0.split(separator: "/mod_").last?.dropLast(3) ?? "")_module \($0)"
      }.joined(separator: "\n"))
      \(getuid() == 0 ? "User daemon\nGroup daemon" : "")
      Listen 127.0.0.1:\(httpPort)
      Listen [::1]:\(httpPort)
      Listen 127.0.0.1:\(port)
      Listen [::1]:\(port)
      Protocols h2 http/1.1
      ErrorLog "\(folder.path)/log"
      LogFormat "\(AccessLogLine.apacheFormat)" lab
      CustomLog "\(accessLog.path)" lab
      <Directory "\(folder.path)">
        Require all granted
      </Directory>
      <Location /cookies>
        Header add Set-Cookie "a=1; Path=/"
        Header add Set-Cookie "b=2; Path=/"
      </Location>
      \(servers.joined(separator: "\n"))
      """
    let file = folder.appending(path: "httpd.conf")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    // One process, in the foreground: a signal then meets the one that serves.
    process = ServerProcess(
      program: try ServerFixture.server(program, copiedTo: folder), arguments: ["-X", "-f", file.path], folder: folder,
      ports: [port, httpPort])
  }

  private static let needed = [
    "mpm_event", "unixd", "log_config", "authz_core", "ssl", "http2", "alias", "headers", "cgi",
  ]

  private static let script = """
    #!/bin/sh
    printf 'Content-Type: text/plain\\r\\n\\r\\n'
    openssl dgst -sha256 -r | cut -c 1-64
    """
}
