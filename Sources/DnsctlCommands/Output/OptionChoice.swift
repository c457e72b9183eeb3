// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// The values of an option that is one of several words.
///
/// The parser's default uses key paths, for each of which the Swift runtime searches all conformances of the program: a
/// fortieth of the instructions of a process that looks up one name.
extension ExpressibleByArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
  static var allValueStrings: [String] { allCases.map { $0.rawValue } }

  static var allValueDescriptions: [String: String] { [:] }
}
