// SPDX-License-Identifier: Apache-2.0
import Foundation

/// nginx with a script: the JSON interface that Google and AliDNS have made common.
///
/// - `/resolve?name=&type=`: answers as Google's; `type` by name or number.
/// - `/servfail`: a JSON reply that says SERVFAIL.
/// - `/error`: status 500 and a JSON body that is no reply.
struct NginxJSON: RealServer {
  static let name = "nginx"

  let process: ServerProcess
  let port: UInt16
  /// The same by plain HTTP/1.1.
  let httpPort: UInt16
  let caFile: String

  /// The URL of the interface; replace `/resolve` by another path for its failures.
  var jsonURL: String { "https://\(host):\(port)/resolve" }

  /// The same by plain HTTP.
  var plainURL: String { "http://127.0.0.1:\(httpPort)/resolve" }

  init() async throws { try await self.init(requestsPerConnection: 1000) }

  /// After so many requests on a connection it says GOAWAY, and refuses what comes later.
  init(requestsPerConnection: Int) async throws {
    let (certificate, nginx) = (try await LabCertificate.shared, try Nginx(Self.name))
    (port, httpPort, caFile) = (nginx.port, nginx.httpPort, certificate.caFile)
    process = try nginx.process(
      """
        access_log off;
        \(nginx.shows(certificate))
        server {
          \(nginx.listens)
          keepalive_requests \(requestsPerConnection);
          location = /resolve { js_content lab.resolve; }
          location = /servfail { js_content lab.servfail; }
          location = /error { js_content lab.error; }
        }
      """, script: Self.script)
  }

  private static let script = """
    const zone = \(LabZone.standard.scriptTable);
    const numbers = { A: 1, CNAME: 5, SOA: 6, AAAA: 28 };
    const authority = { name: 'lab.test.', type: 6, TTL: \(LabZone.negativeTTL),
      data: 'ns.lab.test. hostmaster.lab.test. 1 3600 600 86400 \(LabZone.negativeTTL)' };

    function head(status, name, type) {
      return { Status: status, TC: false, RD: true, RA: true, AD: false, CD: false,
        Question: [{ name: name, type: type }] };
    }

    function send(r, status, reply) {
      r.headersOut['Content-Type'] = 'application/json';
      r.return(status, JSON.stringify(reply));
    }

    function question(r) {
      const name = (r.args.name || '').toLowerCase().replace(/\\.?$/, '.');
      const type = (r.args.type || 'A').toUpperCase();
      return { name: name, type: numbers[type] || parseInt(type) };
    }

    function resolve(r) {
      const asked = question(r);
      let name = asked.name;
      const answer = [];
      while (zone[name]) {
        const records = zone[name].filter(record =>
          numbers[record.type] === asked.type || record.type === 'CNAME');
        records.forEach(record => answer.push(
          { name: name, type: numbers[record.type], TTL: record.ttl, data: record.data }));
        if (records.length !== 1 || records[0].type !== 'CNAME' || asked.type === numbers.CNAME) { break; }
        name = records[0].data;
      }
      const reply = head(zone[name] ? 0 : 3, asked.name, asked.type);
      if (answer.length) { reply.Answer = answer; } else { reply.Authority = [authority]; }
      send(r, 200, reply);
    }

    function servfail(r) {
      const asked = question(r);
      const reply = head(2, asked.name, asked.type);
      reply.Comment = 'The name servers did not answer.';
      send(r, 200, reply);
    }

    function error(r) {
      send(r, 500, { error: 'The service is out of order.' });
    }

    export default { resolve, servfail, error };
    """
}
