// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What those who know dig type, and what to write here: functions of the command line.
enum DigHabit {
  /// Why an argument is no name; nil for one that may be.
  ///
  /// - Parameters:
  ///   - argument: one of the hosts of the command line.
  ///   - others: whether there are others: a name that stands alone is meant as one.
  /// - Returns: what it looks like, and what to write.
  static func objection(to argument: String, others: Bool) -> String? {
    if argument == "+short" { return "this is an option of dig; here it is --short." }
    if argument == "+trace" { return "this is an option of dig; here --trace shows each query." }
    if argument.hasPrefix("+") {
      return "this is an option of dig, and none here: dnsctl resolve --help has those that there are."
    }
    // In capitals, as record types are written: in small letters they may be hosts of this network.
    guard others, argument == argument.uppercased(), let advice = advice(type: argument) else { return nil }
    return "this looks like a record type: \(advice)"
  }

  /// What may be said besides of a name that was looked up in vain; nil where it looks like a name.
  static func doubt(about argument: String, others: Bool) -> String? {
    guard others, let advice = advice(type: argument) else { return nil }
    return " If a record type was meant: \(advice)"
  }

  private static func advice(type: String) -> String? {
    // By its name: a number may be an address.
    guard let known = DNSRecordType(type), known.isQueryable, known.description == type.uppercased() else { return nil }
    return "--type \(known) asks for it."
  }
}
