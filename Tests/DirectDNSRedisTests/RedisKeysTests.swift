// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSRedis

@Suite struct RedisKeysTests {
  private let keys = RedisKeys(prefix: "directdns:")

  @Test func `keys say what they are`() throws {
    let question = AddressQuestion(try HostName("www.example.net"), .ipv6)
    #expect(keys.answer(question) == "directdns:answer:1:AAAA:www.example.net")
    #expect(keys.lease(question) == "directdns:lease:AAAA:www.example.net")
    #expect(keys.question(keys.answer(question)) == question)
  }

  @Test(arguments: [
    "", "directdns:", "directdns:lease:A:www.example.net", "directdns:answer:2:A:www.example.net",
    "directdns:answer:1:MX:www.example.net", "directdns:answer:1:A:", "directdns:answer:1:A:a..b",
    "directdns:answer:1:A:WWW.example.net", "directdns:answer:1:A:www.example.net.", "other:answer:1:A:a",
  ])
  func `a key of something else is no question`(_ key: String) {
    #expect(keys.question(key) == nil)
  }

  @Test func `a prefix is no pattern`() {
    #expect(RedisKeys(prefix: "a*[b]?\\:").pattern == "a\\*\\[b\\]\\?\\\\:answer:1:*")
  }

  @Test func `a command is an array of strings, counted in bytes`() {
    #expect(RedisCommand("SET", "ü", "").bytes == Array("*3\r\n$3\r\nSET\r\n$2\r\nü\r\n$0\r\n\r\n".utf8))
  }
}
