// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("The name and the password for another proxy")
struct UpstreamProxyCredentialsTests {
  @Test(
    arguments: [
      (["Negotiate", "NTLM"], "wants a password by Negotiate or NTLM, and it can be sent by Basic alone"),
      (["Digest realm=\"a b, c=\", nonce=\"x\", qop=\"auth\""], "wants a password by Digest, and"),
      (["Digest realm=\"a, Basic b\", qop=\"auth, auth-int, x\""], "wants a password by Digest, and"),
      (["NTLM", "basic realm=x"], "does not take the name and the password"),
      (["Digest realm=x, nonce=y, Basic realm=x"], "does not take the name and the password"),
      (["", "\u{1b}[2J"], "does not take the name and the password"),
      ([], "does not take the name and the password"),
    ] as [([String], String)])
  func `a proxy that takes no password by Basic is not told of as if the password were wrong`(
    _ challenges: [String], _ words: String
  ) throws {
    let fields = challenges.map { "Proxy-Authenticate: \($0)\r\n" }.joined()
    let head = try HeadParser.parse(Array("HTTP/1.1 407 Who\r\n\(fields)\r\n".utf8), .response)
    let refusal = try UpstreamProxy("http://u:p@proxy.example").credentialsRefusal(by: head)
    #expect(refusal.message.contains(words), "\(refusal.message)")
    #expect(refusal.status == 502 && refusal.error == "destination_unavailable")
  }
}
