// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct JSONFormatTests {
  @Test func `Google writes Question as an array, Comment as a string, and max-age`() async throws {
    try await withProvider(.init(vendor: .google)) { server async throws in
      let reply = try await Curl.run(server.url("/resolve?name=shop.example.com"))
      #expect(reply.json["Question"] is [Any] && reply.json["Comment"] is String)
      #expect(reply.field("Cache-Control") == "private, max-age=20")
      #expect(reply.field("Content-Type") == "application/json; charset=UTF-8")
    }
  }

  @Test func `Google echoes the subnet and gives a DNS message when asked to`() async throws {
    try await withProvider(.init(vendor: .google)) { server async throws in
      let url = server.url("/resolve?name=www.example.com")
      let reply = try await Curl.run(url + "&edns_client_subnet=192.0.2.0/24")
      #expect(reply.json["edns_client_subnet"] as? String == "192.0.2.0/24")
      let message = try await Curl.run(url + "&ct=application/dns-message")
      #expect(try DNSMessage(decoding: message.body).answers.count == 2)
    }
  }

  @Test func `Google's NXDOMAIN carries an SOA as one string`() async throws {
    try await withProvider(.init(vendor: .google)) { server async throws in
      let reply = try await Curl.run(server.url("/resolve?name=nothing.example.com"))
      #expect(reply.json["Status"] as? Int == 3)
      let authority = try #require(reply.json["Authority"] as? [[String: Any]])
      #expect(authority.first?["name"] as? String == "example.com." && authority.first?["type"] as? Int == 6)
      #expect((authority.first?["data"] as? String)?.split(separator: " ").count == 7)
    }
  }

  @Test func `Cloudflare speaks JSON at dns-query, leaves the final dot out, and lists comments`()
    async throws
  {
    try await withProvider { server async throws in
      let url = server.url("/dns-query?name=gone.example.com&type=AAAA")
      let reply = try await Curl.run("-H", "Accept: application/dns-json", url)
      #expect(reply.field("Content-Type") == "application/dns-json")
      #expect(reply.json["Comment"] is [String])
      #expect(reply.text.contains(#""Question":[{"name":"gone.example.com","type":28}]"#))
    }
  }

  @Test(arguments: ["name=www.example.com&cd=2", "name=a..b", "name=www.example.com&type=NOPE"])
  func `Cloudflare explains a bad request in JSON`(query: String) async throws {
    try await withProvider { server async throws in
      let reply = try await Curl.run(server.url("/dns-query?\(query)&ct=application/dns-json"))
      #expect(reply.status == 400 && reply.json["error"] is String)
    }
  }

  @Test func `doh.pub speaks Google's JSON at dns-query`() async throws {
    try await withProvider(.init(vendor: .dnspod)) { server async throws in
      let reply = try await Curl.run(server.url("/dns-query?name=www.example.com&type=A"))
      #expect(reply.text.contains(#""Question":[{"name":"www.example.com.","type":1}]"#))
    }
  }

  @Test(arguments: ["A", "a", "1", "TYPE1"])
  func `a type is a mnemonic of any case or a number`(type: String) async throws {
    try await withProvider { server async throws in
      _ = try await Curl.run(server.url("/resolve?name=www.example.com&type=\(type)"))
      #expect(server.requests.first?.type == .a)
    }
  }

  @Test func `an HTTPS record is written in presentation form`() async throws {
    let binding = ServiceBinding(
      priority: 1, target: .root,
      parameters: [1: [2, 0x68, 0x33, 2, 0x68, 0x32], 3: [0x20, 0xfb], 4: [192, 0, 2, 1]])
    let records = RecordTable { $0.service("www.example.com", binding) }
    try await withProvider(records: records) { server async throws in
      let reply = try await Curl.run(server.url("/resolve?name=www.example.com&type=HTTPS"))
      let answer = try #require((reply.json["Answer"] as? [[String: Any]])?.first)
      #expect(answer["data"] as? String == #"1 . alpn="h3,h2" port=8443 ipv4hint=192.0.2.1"#)
    }
  }

  @Test func `JSON is asked for by GET only`() async throws {
    try await withProvider { server async throws in
      #expect(try await Curl.run("-d", "", server.url("/resolve?name=www.example.com")).status == 501)
    }
  }
}
