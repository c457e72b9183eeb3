// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Reads the switch of direct connect in the configuration file.
extension DirectSwitch {
  enum Key: String, ConfigurationKey { case off }

  /// `"on"`, `"off"`, or an object with the names for which it is off.
  ///
  /// A bare list is refused, since it would not say whether direct connect is on or off for its names.
  init(_ node: ConfigurationNode) throws(ConfigurationFault) {
    let expectation = "Give \"on\", \"off\", or { off: […] } with the names for which it is off."
    switch node.value {
    case .text("on"), .bool(true): self = .on
    case .text("off"), .bool(false): self = .off
    case .object:
      let object = try node.object(Key.self, expectation)
      guard let names = object[.off] else { throw object.missing(.off, expectation) }
      let suffixes = try names.list("Give a list of names.").map { node throws(ConfigurationFault) in
        try node.hostName(isSuffix: true)
      }
      self = suffixes.isEmpty ? .on : .offUnder(suffixes)
    default: throw node.fault(expectation)
    }
  }
}
