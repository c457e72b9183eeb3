import Foundation

/// nginx with a script that answers a request with what it got: method, target, fields in their order and spelling, body.
struct NginxRecorder: RealServer {
  static let name = "nginx-recorder"

  /// The programs and modules that tests with it need and this machine lacks.
  static let missing =
    ["nginx", "openssl"].filter { ServerFixture.path(of: $0) == nil }
    + (NginxJSON.scriptModule == nil ? ["ngx_http_js_module.so"] : [])

  /// A request as it came.
  struct Record: Decodable, Equatable {
    var line: String
    var fields: [[String]]
    var body: String
  }

  let process: ServerProcess
  let port: UInt16
  /// The same by plain HTTP/1.1.
  let httpPort: UInt16
  let caFile: String

  init() async throws {
    guard let module = NginxJSON.scriptModule else { throw ServerFixture.Failure("nginx has no script module") }
    let certificate = try await LabCertificate.shared
    let folder = try ServerFixture.newFolder(Self.name)
    port = try LoopbackPort.free()
    httpPort = try LoopbackPort.free()
    caFile = certificate.caFile
    let script = """
      function record(r) {
        r.headersOut['Content-Type'] = 'application/json';
        r.return(200, JSON.stringify({
          line: r.variables.request, fields: r.rawHeadersIn, body: r.requestText || '' }));
      }
      export default { record };
      """
    try script.write(to: folder.appending(path: "record.js"), atomically: false, encoding: .utf8)
    let configuration = """
      load_module \(module);
      daemon off;
      master_process off;
      pid \(folder.path)/pid;
      error_log stderr;
      events { worker_connections 64; }
      http {
        access_log off;
        js_import record from \(folder.path)/record.js;
        client_body_temp_path \(folder.path)/body;
        client_body_buffer_size 1m;
        proxy_temp_path \(folder.path)/proxy;
        fastcgi_temp_path \(folder.path)/fastcgi;
        uwsgi_temp_path \(folder.path)/uwsgi;
        scgi_temp_path \(folder.path)/scgi;
        ssl_certificate \(certificate.chainFile);
        ssl_certificate_key \(certificate.keyFile);
        server {
          listen 127.0.0.1:\(httpPort);
          listen 127.0.0.1:\(port) ssl http2;
          location = /moved { return 302 /; }
          location / { js_content record.record; }
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
