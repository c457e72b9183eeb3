// SPDX-License-Identifier: Apache-2.0
import Foundation

/// nginx with a script that answers a request with what it got: method, target, fields in their order and spelling, body.
struct NginxRecorder: RealServer {
  static let name = "nginx-recorder"

  /// The programs and modules that tests with it need and this machine lacks.
  static let missing =
    ["nginx", "openssl"].filter { ServerFixture.path(of: $0) == nil }
    + (Nginx.scriptModule == nil ? ["ngx_http_js_module.so"] : [])

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
    let (certificate, nginx) = (try await LabCertificate.shared, try Nginx(Self.name))
    (port, httpPort, caFile) = (nginx.port, nginx.httpPort, certificate.caFile)
    let script = """
      function record(r) {
        r.headersOut['Content-Type'] = 'application/json';
        r.return(200, JSON.stringify({
          line: r.variables.request, fields: r.rawHeadersIn, body: r.requestText || '' }));
      }
      export default { record };
      """
    process = try nginx.process(
      """
        access_log off;
        client_body_buffer_size 1m;
        \(nginx.shows(certificate))
        server {
          \(nginx.listens)
          location = /moved { return 302 /; }
          location / { js_content lab.record; }
        }
      """, script: script)
  }
}
