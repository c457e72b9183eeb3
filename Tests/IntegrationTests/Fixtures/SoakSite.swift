// SPDX-License-Identifier: Apache-2.0
import Foundation

/// nginx as a whole world: Google's JSON for any name, and the origin that all of these names lead to.
///
/// What a name is called says how it behaves: `gone-…` does not exist, `broken-…` cannot be resolved, at `error-…` the
/// provider fails, and every other name is an address for two seconds.
struct SoakSite: RealServer {
  static let name = "nginx"

  let process: ServerProcess
  let port: UInt16
  let httpPort: UInt16
  let caFile: String

  var jsonURL: String { "https://\(host):\(port)/resolve" }

  init() async throws {
    let (certificate, nginx) = (try await LabCertificate.shared, try Nginx("nginx-soak"))
    (port, httpPort, caFile) = (nginx.port, nginx.httpPort, certificate.caFile)
    let authority = #"{"name":"lab.test.","type":6,"TTL":2,"data":"ns.lab.test. a.lab.test. 1 2 2 2 2"}"#
    process = try nginx.process(
      """
        access_log off;
        default_type text/plain;
        keepalive_requests 500;
        \(nginx.shows(certificate))
        map $arg_type $number { default 1; ~^(28|AAAA)$ 28; }
        map $arg_name$number $code { default 0; ~^gone- 3; ~^broken- 2; }
        map $code$number $records {
          default '"Authority":[\(authority)]';
          01 '"Answer":[{"name":"$arg_name","type":1,"TTL":2,"data":"127.0.0.1"}]';
        }
        map $arg_name $failing { default 0; ~^error- 1; }
        server {
          \(nginx.listens)
          location = /resolve {
            default_type application/json;
            if ($failing) { return 500; }
            return 200 '{"Status":$code,"Question":[{"name":"$arg_name","type":$number}],$records}';
          }
          location = /ok { return 200 "ok"; }
          location = /moved { return 302 $scheme://www-1.lab.test:$server_port/cookie; }
          location = /cookie { add_header Set-Cookie "visit=$request_id; Path=/"; return 200 "ok"; }
          location = /reset { return 444; }
          location = /slow { limit_rate 20k; root \(nginx.folder.path); try_files /big.txt =404; }
          location = /big { root \(nginx.folder.path); try_files /big.txt =404; }
        }
      """)
    try String(repeating: "0123456789abcdef", count: 16_384)
      .write(to: nginx.folder.appending(path: "big.txt"), atomically: false, encoding: .utf8)
  }
}
