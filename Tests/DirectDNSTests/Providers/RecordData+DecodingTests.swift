// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RecordDataDecodingTests {
  @Test(arguments: RecordSample.good)
  func `data is read as its type has it`(_ sample: RecordSample) {
    let data = RecordData(sample.data, type: sample.type)
    #expect(data.description == sample.text)
    if sample.type.rawValue != 65280 { #expect(data != .opaque(sample.data)) }
  }

  @Test(arguments: RecordSample.bad)
  func `malformed data is shown by its bytes`(_ sample: RecordSample) {
    #expect(RecordData(sample.data, type: sample.type) == .opaque(sample.data))
    #expect(RecordData(sample.data, type: sample.type).description == sample.text)
  }

  @Test(arguments: RecordSample.good)
  func `data that is cut anywhere, or goes on, is read as something and never as more than it is`(
    _ sample: RecordSample
  ) {
    for bytes in (0..<sample.data.count).map({ Array(sample.data.prefix($0)) }) + [sample.data + [0]] {
      let text = RecordData(bytes, type: sample.type).description
      #expect(text != sample.text && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }, "\(bytes)")
      #expect(RecordData(text, type: sample.type)?.description == text, "\(bytes): \(text)")
    }
  }

  @Test func `any bytes are read as something, of any type`() throws {
    var generator = SplitMix(state: 1)
    for _ in 0..<Sanitizer.volume(of: 20_000) {
      let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        // Small numbers are lengths and keys that come near to something.
        Bool.random(using: &generator)
          ? UInt8.random(in: 0...6, using: &generator) : UInt8.random(in: .min ... .max, using: &generator)
      }
      let sample = try #require(RecordSample.good.randomElement(using: &generator))
      let data = RecordData(bytes, type: sample.type)
      let text = data.description
      #expect(text.utf8.allSatisfy { (0x20...0x7e).contains($0) })
      // What was read can be written, and is the same when it is read again.
      #expect(RecordData(text, type: sample.type)?.description == text, "\(sample.type) \(bytes): \(text)")
    }
  }

  /// Numbers out of a seed.
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var value = state
      value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
      value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
      return value ^ value >> 31
    }
  }

  @Test func `names point into the message around them`() {
    let message = wire("07'example'00") + wire("000a 04'mail' c000 ff")
    var reader = DNSMessageReader(bytes: message)
    reader.offset = 9
    #expect(reader.recordData(of: .mx, until: message.count - 1).description == "10 mail.example.")
    #expect(reader.offset == message.count - 1)
  }

  @Test func `data ends where its record does, although the message goes on`() {
    let message = wire("000a 04'mail'00")
    var reader = DNSMessageReader(bytes: message)
    #expect(reader.recordData(of: .mx, until: 4) == .opaque([0, 10, 4, 0x6d]))
    #expect(reader.offset == 4)
  }
}
