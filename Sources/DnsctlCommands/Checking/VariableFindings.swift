// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration

extension Finding {
  /// What variables mean that look like misspelt ones: a pure function.
  ///
  /// Others that begin as ours do may be those of a program that uses the library.
  ///
  /// - Parameter names: the names of all variables.
  /// - Returns: a warning for each such variable.
  static func variables(_ names: some Sequence<String>) -> [Finding] {
    let known = EnvironmentSettings.names
    let others = names.filter { $0.hasPrefix(EnvironmentSettings.prefix) && !known.contains($0) }
    return others.sorted().compactMap { name in
      let nearest = known.map { (name: $0, distance: UnknownCommand.distance($0.utf8, name.utf8)) }
        .min { $0.distance < $1.distance }
      let length = name.utf8.count - EnvironmentSettings.prefix.utf8.count
      guard let nearest, nearest.distance <= 2, nearest.distance * 2 < length else { return nil }
      return .warn("variables", "\(name.printable) changes nothing", "Did you mean \(nearest.name)?")
    }
  }
}
