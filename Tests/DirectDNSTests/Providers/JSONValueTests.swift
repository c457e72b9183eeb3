// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct JSONValueTests {
  private func value(_ text: String) throws -> JSONValue { try #require(JSONValue(Array(text.utf8))) }

  @Test func `a member that is null is the same as none`() throws {
    let value = try value(#"{"a":null,"b":0}"#)
    #expect(value["a"] == nil && value["c"] == nil && value["b"]?.integer == 0)
    #expect(value.isObject && value.elements == nil && value.string == nil)
    #expect(value["b"]?["x"] == nil)
  }

  @Test func `of several members of one name the last one counts`() throws {
    #expect(try value(#"{"a":1,"b":3,"a":2}"#)["a"]?.integer == 2)
    #expect(try value(#"{"a":1,"a":null}"#)["a"] == nil)
  }

  @Test func `values are read wherever they stand`() throws {
    let value = try value(#"{"data":{"answers":[{"v4":{"ips":["192.0.2.1","x"],"ttl":"60"}},7]}}"#)
    let answers = try #require(value["data"]?["answers"]?.elements)
    #expect(answers.count == 2 && answers[1].integer == 7 && !answers[1].isObject)
    let ips = try #require(answers[0]["v4"]?["ips"]?.elements)
    #expect(ips.map { $0.spelled(as: IPAddress.init(ascii:)) } == [Sample.address("192.0.2.1"), nil])
    #expect(answers[0]["v4"]?["ttl"]?.integer == 60 && ips.map(\.string) == ["192.0.2.1", "x"])
  }

  @Test func `what is no JSON is no value`() { #expect(JSONValue(Array("{".utf8)) == nil) }
}
