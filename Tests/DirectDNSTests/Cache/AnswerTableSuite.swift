// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// Suites of the table of answers: names by their numbers, and values of which each word tells whose it is.
protocol AnswerTableSuite {}

extension AnswerTableSuite {
  static func entry(_ addresses: [IPAddress], alias: HostName? = nil) -> CachedName.Slot {
    .entry(
      CacheEntry(content: .addresses(addresses), canonicalName: alias, source: 2, life: Sample.life(0, 100)))
  }

  /// A value that only that number has, of a size that depends on `generation`.
  static func value(_ number: Int, generation: Int = 0) -> CachedName {
    let count4 = [1, 2, 5, 20, 64][generation % 5]
    let count6 = [0, 1, 0, 8, 64][generation % 5]
    let all4 = (0..<count4).map { IPAddress.ipv4(UInt32(number << 8 | $0)) }
    let all6 = (0..<count6).map { IPAddress.ipv6(high: UInt64(number), low: UInt64($0)) }
    return CachedName(
      ipv4: entry(
        all4, alias: generation % 2 == 0 ? nil : HostName(canonical: "alias-\(number).example.net")),
      ipv6: all6.isEmpty ? .neverAsked : entry(all6))
  }

  static func name(_ number: Int) -> HostName { HostName(canonical: "n\(number).example.net") }

  func addresses(_ table: AnswerTable, _ reading: AnswerTable.Reading?) -> [IPAddress]? {
    guard let reading else { return nil }
    var addresses = AddressList()
    table.append(.any, of: reading, prefersIPv6: false, to: &addresses)
    return table.confirm(reading, seconds: 1) ? Array(addresses) : nil
  }
}
