import DirectDNS
import HTTPTypes

/// The verbs of rewriting requests and restoring responses.
let rewritingVerbs: [String: Verb] = [
  "url.rewrite": { input in
    guard let address = IPAddress(try text(input, "ip")) else { throw MissingField(name: "ip") }
    let request = HTTPRequest(url: try WebURL(text(input, "url")))
    switch RequestRewriter(form: .literal, policy: .any).rewrite(request, using: [address]) {
    case .direct(let direct):
      return [
        "ok": true, "url": direct.url.href, "host_header": direct.host, "original_url": direct.originalUrl,
        "sni": direct.serverName?.text as Any,
      ]
    case .bypassed: return ["unchanged": true]
    case .refused(let error): throw error
    }
  }
]
