internal import ArgumentParser
internal import DirectDNSConfiguration

/// The options of commands that look into a store.
struct StoreOptions: ParsableArguments {
  @Option(
    name: .customLong("store"),
    help: ArgumentHelp(
      "The store: sqlite, sqlite:PATH, a path, or redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. (default: the configured one, else sqlite)",
      valueName: "store"),
    completion: .list(["sqlite"]))
  var text: String?

  @Option(name: .customLong("config"), help: Self.configurationHelp, completion: .file(extensions: ["json5", "json"]))
  var configurationPath: String?

  /// What `--store` is for commands that resolve.
  static let help = ArgumentHelp(
    "Where answers are remembered: memory, sqlite, sqlite:PATH, a path, or redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. sqlite alone is directdns/answers.sqlite in $XDG_CACHE_HOME or ~/.cache. (default: memory)",
    valueName: "store")

  static let configurationHelp = ArgumentHelp(
    "The configuration file. (default: directdns/config.json5 in $XDG_CONFIG_HOME or ~/.config, where there is one)",
    valueName: "file")
}
