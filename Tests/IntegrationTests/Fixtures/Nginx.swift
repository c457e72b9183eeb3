// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What every nginx of the tests has: a folder of its own, two ports, and the beginning of its configuration.
struct Nginx {
  let folder: URL
  /// The port of `https`, with HTTP/2 and HTTP/1.1.
  let port: UInt16
  /// The same by plain HTTP/1.1.
  let httpPort: UInt16

  /// Where the script module lies, if it is installed.
  static let scriptModule = [
    "/usr/lib/nginx/modules", "/usr/lib64/nginx/modules", "/usr/local/lib/nginx/modules",
  ]
  .map { "\($0)/ngx_http_js_module.so" }
  .first { FileManager.default.fileExists(atPath: $0) }

  init(_ name: String) throws {
    folder = try ServerFixture.newFolder(name)
    port = try LoopbackPort.free()
    httpPort = try LoopbackPort.free()
  }

  /// Listens by both ports.
  var listens: String { "listen 127.0.0.1:\(httpPort); listen 127.0.0.1:\(port) ssl http2;" }

  /// Shows that certificate.
  func shows(_ certificate: LabCertificate) -> String {
    "ssl_certificate \(certificate.chainFile); ssl_certificate_key \(certificate.keyFile);"
  }

  /// Writes the configuration.
  ///
  /// - Parameters:
  ///   - http: the body of its `http` block.
  ///   - script: a script, which the body knows as `lab`.
  /// - Returns: the server, not started.
  /// - Throws: what keeps it from being written, or that there is no module for scripts.
  func process(_ http: String, script: String? = nil) throws -> ServerProcess {
    var modules = ""
    if let script {
      guard let module = Self.scriptModule else { throw ServerFixture.Failure("nginx has no script module") }
      try script.write(to: folder.appending(path: "lab.js"), atomically: false, encoding: .utf8)
      modules = "load_module \(module);"
    }
    // One process without a master: a signal then meets the one that serves.
    let configuration = """
      \(modules)
      daemon off;
      master_process off;
      pid \(folder.path)/pid;
      error_log stderr;
      events { worker_connections 1024; }
      http {
        client_body_temp_path \(folder.path)/body;
        proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/fastcgi;
        uwsgi_temp_path \(folder.path)/uwsgi;
        scgi_temp_path \(folder.path)/scgi;
        \(script == nil ? "" : "js_import lab from \(folder.path)/lab.js;")
      \(http)
      }
      """
    let file = folder.appending(path: "nginx.conf")
    try configuration.write(to: file, atomically: false, encoding: .utf8)
    return ServerProcess(
      program: try ServerFixture.server("nginx", copiedTo: folder),
      arguments: ["-p", folder.path, "-e", "stderr", "-c", file.path], folder: folder, ports: [port, httpPort])
  }
}
