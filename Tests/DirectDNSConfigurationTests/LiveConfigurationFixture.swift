// SPDX-License-Identifier: Apache-2.0
import Logging

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DirectDNSTesting

/// A configuration file that changes, in moved time.
class LiveConfigurationFixture {
  let folder = TestFolder()
  let clock = ManualClock()
  let log = RecordingLog()
  var path: String { folder / "c.json5" }

  func live(
    _ text: String, observer: @escaping LiveConfiguration.Observer = { _, _, _ in },
    check: @escaping LiveConfiguration.Check = { _ in }
  ) throws -> LiveConfiguration {
    try folder.write(text, to: "c.json5")
    return try LiveConfiguration(
      path, interval: .seconds(1), clock: clock, logger: log.logger, check: check, observer: observer
    ) { bytes, name throws(ConfigurationFault) in
      try DirectSettings(
        ConfigurationFile(checking: bytes, name: name), environment: EnvironmentSettings([:]),
        overrides: SettingsOverrides())
    }
  }

  func change(_ text: String) throws {
    try folder.write(text, to: "new")
    try folder.move("new", onto: "c.json5")
  }
}
