// SPDX-License-Identifier: Apache-2.0
/// The version of the library, the programs and the packages; it is defined only here, where `Scripts/version` reads
/// it.
///
/// A release's tag is only the number, `0.2.0`, as SwiftPM requires.
enum DnsctlVersion {
  static let text = "0.2.0"
}
