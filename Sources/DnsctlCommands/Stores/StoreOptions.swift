// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// The options of commands that work on a store.
struct StoreOptions: ParsableArguments {
  @Option(
    name: .customLong("store"),
    help: ArgumentHelp(
      "The store: sqlite, sqlite:PATH, a path, or redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]; @FILE holds one of these in its first line. (default: the configured one, else sqlite)",
      valueName: "store"),
    completion: .list(["sqlite"]))
  var text: String?

  @Option(name: .customLong("config"), help: Self.configurationHelp, completion: .file(extensions: ["json5", "json"]))
  var configurationPath: String?

  /// The help of `--store` for commands that resolve.
  static let help = ArgumentHelp(
    "Where answers are remembered: memory, sqlite, sqlite:PATH, a path, or redis[s]://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]; @FILE holds one of these in its first line. sqlite alone is directdns/answers.sqlite in $XDG_CACHE_HOME or ~/.cache. (default: memory; of cache refresh: sqlite)",
    valueName: "store")

  static let configurationHelp = ArgumentHelp(
    "The configuration file. (default: directdns/config.json5 in $XDG_CONFIG_HOME or ~/.config, where there is one)",
    valueName: "file")
}

extension CommandContext {
  /// The value of `--store`, which may be in a file, since a URL may contain a password.
  func storeText(_ option: String?) throws(CommandError) -> String? {
    guard let option else { return nil }
    return try InputFile.secret(option, for: "--store", by: readFile)
  }
}
