// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DNSPodFormatTests {
  private func text(_ query: String) async throws -> String {
    try await withProvider { server async throws in
      let reply = try await Curl.run(server.url("/d?\(query)"))
      #expect(reply.status == 200)
      return reply.text
    }
  }

  @Test(arguments: [
    ("dn=www.example.com", "192.0.2.1;192.0.2.2"),
    ("dn=www.example.com&ttl=1", "192.0.2.1;192.0.2.2,60"),
    ("dn=shop.example.com&ttl=1", "192.0.2.1;192.0.2.2,20"),
    ("dn=www.example.com&ttl=1&clientip=1", "192.0.2.1;192.0.2.2,60|127.0.0.1"),
    ("dn=www.example.com&ttl=1&clientip=1&ip=198.51.100.7", "192.0.2.1;192.0.2.2,60|198.51.100.7"),
    ("dn=www.example.com&type=aaaa&ttl=1", "2001:db8::1,60"),
    ("dn=www.example.com&type=addrs&ttl=1", "192.0.2.1;192.0.2.2,60-2001:db8::1,60"),
    ("dn=www.example.com&query=1", "www.example.com.:192.0.2.1;192.0.2.2"),
    ("dn=gone.example.com", ""),
    ("dn=gone.example.com&type=addrs", "0-0"),
    ("dn=gone.example.com&type=addrs&query=1&clientip=1", "gone.example.com.:0-0|127.0.0.1"),
    ("dn=six.example.com&type=addrs&ttl=1", "0-2001:db8::6,90"),
    (
      "dn=www.example.com,gone.example.com&ttl=1&clientip=1",
      "www.example.com.:192.0.2.1;192.0.2.2,60\ngone.example.com.:0|127.0.0.1"
    ),
  ])
  func `the reply's grammar`(query: String, expected: String) async throws {
    #expect(try await text(query) == expected)
  }

  @Test func `every name and family of a batch is recorded`() async throws {
    try await withProvider { server async throws in
      _ = try await Curl.run(server.url("/d?dn=a.test,b.test&type=addrs"))
      #expect(
        server.requests.first?.questions.map(\.description)
          == ["a.test. A", "a.test. AAAA", "b.test. A", "b.test. AAAA"])
    }
  }

  @Test func `POST is a method, others are 501`() async throws {
    try await withProvider { server async throws in
      let url = server.url("/d?dn=www.example.com")
      #expect(try await Curl.run("-X", "POST", url).text == "192.0.2.1;192.0.2.2")
      #expect(try await Curl.run("-X", "PUT", url).status == 501)
    }
  }

  @Test func `a name that is not Punycode is a bad request`() async throws {
    try await withProvider { server async throws in
      #expect(try await Curl.run(server.url("/d?dn=b%C3%BCcher.example")).status == 400)
    }
  }

  @Test func `the token has to be the account's`() async throws {
    try await withProvider(.init(dnspodAccount: DNSPodAccount(token: "T0ken"))) { server async throws in
      let url = server.url("/d?dn=www.example.com")
      #expect(try await Curl.run(url).status == 401)
      #expect(try await Curl.run(url + "&token=other").status == 401)
      #expect(try await Curl.run(url + "&token=T0ken").text == "192.0.2.1;192.0.2.2")
    }
  }

  @Test func `an encrypted name is read, and the answer encrypted`() async throws {
    let key = "0123456789abcdef"
    let account = DNSPodAccount(id: "42", token: "T0ken", aesKey: key)
    try await withProvider(.init(dnspodAccount: account)) { server async throws in
      let name = try OpenSSL.encrypt("www.example.com", key: key)
      let reply = try await Curl.run(server.url("/d?dn=\(name)&alg=aes&id=42"))
      #expect(try OpenSSL.decrypt(reply.text, key: key) == "192.0.2.1;192.0.2.2")
      #expect(server.requests.first?.name == "www.example.com")
      let wrong = try OpenSSL.encrypt("www.example.com", key: "fedcba9876543210")
      #expect(try await Curl.run(server.url("/d?dn=\(wrong)&alg=aes&id=42")).text == "")
    }
  }
}
