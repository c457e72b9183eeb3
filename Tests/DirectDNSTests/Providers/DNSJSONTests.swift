// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What `JSONProviderTests` says of replies as a provider gets them is not said again.
struct DNSJSONTests {
  private func answer(_ text: String) throws -> Answer {
    let question = DNSQuestion(name: try #require(DNSName("www.shop.test")), type: .a)
    return try DNSJSON.answer(from: Array(text.utf8), to: question)
  }

  private func reply(_ members: String) -> String {
    #"{"Question":{"name":"www.shop.test","type":1},\#(members)}"#
  }

  @Test(arguments: [
    #""Status":2,"Status":0,"Answer":[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}]"#,
    #""Answer":7,"Answer":[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}],"Status":0"#,
    #""S\u0074atus":0,"Answer":[{"n\u0061me":"www.sh\u006fp.test","type":1,"TTL":9,"data":"192.0.2.\u0031"}]"#,
    #""Status":0,"Answer":[{"name":"x.test","name":"WWW.shop.test.","type":1,"TTL":9,"data":"192.0.2.1","x":[{}]}]"#,
  ])
  func `members come in any order and spelling, and the last of one name counts`(_ members: String) throws {
    #expect(try answer(reply(members)) == .addresses("192.0.2.1", ttl: 9))
  }

  @Test func `names of a chain may be spelled in several ways`() throws {
    let members =
      #""Status":0,"Answer":["#
      + #"{"name":"www.shop.test.","type":5,"TTL":9,"data":"Edge.shop.test"},"#
      + #"{"name":"other.test","type":1,"TTL":1,"data":"192.0.2.9"},"#
      + #"{"name":"\\101dge.shop.test","type":1,"TTL":1,"data":"192.0.2.9"},"#
      + #"{"name":"edge.SHOP.test.","type":1,"TTL":9,"data":"192.0.2.1"}]"#
    // \101 is the letter e.
    #expect(try answer(reply(members)).addresses == [Sample.address("192.0.2.9"), Sample.address("192.0.2.1")])
    #expect(try answer(reply(members)).canonicalName == Sample.name("edge.shop.test"))
  }

  @Test func `a referral is no negative answer`() throws {
    let referral = #""Status":0,"Authority":[{"name":"shop.test","type":2,"data":"ns.shop.test."}]"#
    #expect(throws: ProviderFailure.self) { try answer(reply(referral)) }
  }

  @Test func `an escaped dot is no dot`() throws {
    let members = #""Status":0,"Answer":[{"name":"www\\.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}]"#
    #expect(try answer(reply(members)).addresses == [])
  }

  @Test(arguments: ["Status", "TC", "Question", "Answer", "Authority"])
  func `what is not JSON behind the answer spoils it`(_ key: String) throws {
    #expect(throws: ProviderFailure.self) { try answer(reply(#""Status":0,"\#(key)":[1,]"#)) }
  }
}
