// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What users of dig type, and what to write here instead: pure functions of the command line.
enum DigHints {
  /// Why an argument is no name; nil for one that may be.
  ///
  /// - Parameters:
  ///   - argument: one of the hosts of the command line.
  ///   - others: whether there are others: a single argument is meant as a name.
  /// - Returns: what it looks like, and what to write.
  static func objection(to argument: String, others: Bool) -> String? {
    if argument == "+short" { return "This is an option of dig; here it is --short." }
    if argument == "+trace" { return "This is an option of dig; here --trace shows each query." }
    if argument.hasPrefix("+") {
      return "This is an option of dig, and none here: dnsctl resolve --help has those that there are."
    }
    // In capitals, as record types are written: in small letters they may be hosts of this network.
    guard others, argument == argument.uppercased() else { return nil }
    if ["IN", "CH", "HS"].contains(argument) { return "This looks like a class: IN is what is asked for, always." }
    return advice(type: argument).map { "This looks like a record type: \($0)" }
  }

  /// What to write in place of an option of dig, doggo or q; nil for one that they do not have either.
  static func advice(on option: String) -> String? {
    switch option {
    case "-n", "--nameserver", "-s", "--server": "@SERVER says who is asked"
    case "-p", "--port": "the port follows the server, @HOST:PORT"
    case "-q", "--query": "the name is an argument"
    case "-c", "--class": "IN is what is asked for, always"
    case "-r": "--short"
    case "-J": "--json"
    case "-b": "the system chooses the address to ask from"
    case "-d", "--dnssec":
      "authenticated says whether the provider has validated: with -t and --json, for addresses by dnsctl compare --json"
    case "--ecs", "--subnet": "clientSubnet of a provider in the configuration file"
    case "-v", "--verbose", "--debug": "--trace"
    case "--time": "the time is shown"
    default: nil
    }
  }

  /// What to add to the error of a name that was not found; nil if it looks like a name.
  static func typeHint(for argument: String, others: Bool) -> String? {
    guard others, let advice = advice(type: argument) else { return nil }
    return " If a record type was meant: \(advice)"
  }

  private static func advice(type: String) -> String? {
    // By its name: a number may be an address.
    guard let known = DNSRecordType(type), known.isQueryable, known.description == type.uppercased() else { return nil }
    return "--type \(known) asks for it."
  }
}
