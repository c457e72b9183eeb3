// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// The values of an option that is one of several words.
///
/// The parser's own finds them by key paths, each of which has the Swift runtime search all of the program's conformances:
/// of a process that looks one name up that was a fortieth of its instructions.
extension ExpressibleByArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
  static var allValueStrings: [String] { allCases.map { $0.rawValue } }

  static var allValueDescriptions: [String: String] { [:] }
}
