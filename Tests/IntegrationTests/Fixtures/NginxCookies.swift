// SPDX-License-Identifier: Apache-2.0
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
    let (certificate, nginx) = (try await LabCertificate.shared, try Nginx(Self.name))
    (port, httpPort, caFile) = (nginx.port, nginx.httpPort, certificate.caFile)
    process = try nginx.process(
      """
        access_log off;
        \(nginx.shows(certificate))
        default_type text/plain;
        server {
          \(nginx.listens)
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
      """)
  }
}
