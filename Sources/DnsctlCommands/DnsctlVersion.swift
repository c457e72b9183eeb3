// SPDX-License-Identifier: Apache-2.0
/// The version of the library, the programs and the packages: this is its one place, and `Scripts/version` reads it here.
///
/// A release's tag is the number alone, `0.2.0`, as the Swift package manager wants it.
enum DnsctlVersion {
  static let text = "0.2.0"
}
