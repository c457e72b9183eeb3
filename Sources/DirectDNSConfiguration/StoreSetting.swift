// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Where answers are stored, and where that was configured.
public struct StoreSetting: Sendable, Hashable {
  /// The place.
  public var place: StorePlace
  /// An option, an environment variable, or a configuration file and its key; an error about it begins with this.
  package let origin: String

  package init(place: StorePlace, origin: String) {
    self.place = place
    self.origin = origin
  }

  /// Reads the value of an option or a variable.
  init(_ text: String, origin: String) throws(ConfigurationFault) {
    do throws(ConfigurationFault) { place = try StorePlace(text) } catch {
      throw ConfigurationFault("\(origin): \(error.message)", isSyntaxError: origin == SettingsOverrides.storeOrigin)
    }
    self.origin = origin
  }

  /// An error about it.
  package func fault(_ message: String) -> ConfigurationFault {
    ConfigurationFault("\(origin): \(message)", isSyntaxError: origin == SettingsOverrides.storeOrigin)
  }
}
